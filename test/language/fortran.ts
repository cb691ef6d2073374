// Fortran's programs.
import type { Programs } from './program.ts'

export const fortran: Programs = {
  sum: `program main
  implicit none
  integer :: a, b
  read *, a
  read *, b
  print *, a + b
end program main`,
  copy: `program main
  implicit none
  character(len=1000) :: line
  integer :: status
  do
    read (*, '(a)', iostat=status) line
    if (status /= 0) exit
    write (*, '(a)') trim(line)
  end do
end program main`,
  unicode: `program main
  implicit none
  character(len=100) :: line
  print '(a)', 'Grüße, 世界 🎉'
  read '(a)', line
  print '(a)', trim(line)
end program main`,
  exitThree: `program main
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  print '(a)', 'out'
  write (error_unit, '(a)') 'err'
  stop 3, quiet=.true.
end program main`,
  uncaught: {
    code: `program main
  implicit none
  error stop 'no such thing'
end program main`,
    says: /ERROR STOP no such thing/,
  },
  broken: {
    code: 'program main\n  implicit none\n  integer :: a = "b"\nend program main\n',
    says: /main\.f90:3:16:[^]*Error:/,
  },
  busyLoop: `program main
  implicit none
  integer, volatile :: n = 0
  do
    n = mod(n + 1, 1000003)
  end do
end program main`,
  sleeper: 'program main\n  call sleep(60)\nend program main',
  memoryBomb: `program main
  implicit none
  type block
    real, allocatable :: values(:)
  end type
  type(block), allocatable :: kept(:)
  integer :: n
  allocate (kept(100000))
  do n = 1, 100000
    allocate (kept(n)%values(1000000))
    call random_number(kept(n)%values)
  end do
  print *, sum(kept(1)%values)
end program main`,
  outputFlood: `program main
  implicit none
  do
    print '(a)', repeat('x', 100)
  end do
end program main`,
  scratch: `program main
  implicit none
  integer :: unit
  character(len=10) :: line
  open (newunit=unit, file='/tmp/file', action='readwrite')
  write (unit, '(a)') 'kept'
  rewind (unit)
  read (unit, '(a)') line
  close (unit)
  print '(a)', trim(line)
end program main`,
  threads: `program main
  implicit none
  integer :: part, n, sums(4)
  do concurrent (part = 1:4)
    sums(part) = sum([(n, n = (part - 1) * 250 + 1, part * 250)])
  end do
  print '(i0)', sum(sums)
end program main`,
  network: `program main
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function socket(family, kind, protocol) bind(c)
      import
      integer(c_int), value :: family, kind, protocol
    end function
    integer(c_int) function connect(s, to, length) bind(c)
      import
      integer(c_int), value :: s, length
      integer(c_int8_t), intent(in) :: to(*)
    end function
  end interface
  integer(c_int8_t) :: to(16) = [2, 0, 0, 9, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
  integer(c_int) :: s
  s = socket(2, 1, 0)
  if (connect(s, to, 16) /= 0) print '(a)', 'closed'
end program main`,
  usual: `module rows
  implicit none
  type row
    character(len=32) :: name
    integer :: number
  end type
contains
  pure logical function before(a, b)
    type(row), intent(in) :: a, b
    before = a%number < b%number .or. (a%number == b%number .and. llt(a%name, b%name))
  end function
end module

program main
  use rows
  implicit none
  type(row), allocatable :: all(:)
  type(row) :: one
  integer :: status, i, j
  allocate (all(0))
  do
    read (*, *, iostat=status) one%name, one%number
    if (status /= 0) exit
    all = [all, one]
  end do
  do i = 2, size(all)
    one = all(i)
    do j = i - 1, 1, -1
      if (.not. before(one, all(j))) exit
      all(j + 1) = all(j)
    end do
    all(j + 1) = one
  end do
  do i = 1, size(all)
    print '(a, ": ", i0)', trim(all(i)%name), all(i)%number
  end do
  print '("mean: ", f0.2)', sum(all%number) / real(size(all))
end program main`,
  arguments: `program main
  character(len=:), allocatable :: word
  integer :: n, length
  do n = 1, command_argument_count()
    call get_command_argument(n, length=length)
    allocate (character(len=length) :: word)
    call get_command_argument(n, word)
    print '(a)', word
    deallocate (word)
  end do
end program`,
  variable: `program main
  character(len=80) :: value
  call get_environment_variable("GREETING", value)
  print "(a)", trim(value)
end program`,
  secondFile: {
    code: `program main
  use answers
  print '(i0)', answer()
end program`,
    file: {
      name: 'answers.f90',
      content:
        'module answers\ncontains\n  integer function answer()\n    answer = 42\n  end function\nend module\n',
    },
  },
  compileArguments: {
    words: ['-cpp', '-DN=42'],
    code: "program main\n  print '(i0)', N\nend program",
  },
}
