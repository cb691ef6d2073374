// Fortran: GCC.
import type { LanguageDefinition } from './definition.ts'

export const fortran = {
  title: 'Fortran',
  aliases: ['f90'],
  extensions: ['.f90', '.f95', '.f03'],
  comment: ['!', ''],
  packages: ['gfortran'],
  tools: [
    {
      program: 'gfortran',
      title: 'GNU Fortran',
      pattern: /^GNU Fortran .*\s(\d+)\.(\d+)\.\d+/mu,
      oldest: [10, 0],
    },
  ],
  example: `program main
  print '(a)', 'Hello, world!'
end program main`,
  trial: `program main
  use iso_fortran_env
  integer :: n = 0, s
  character :: c
  open(unit=7, file='/dev/stdin', access='stream', form='unformatted', action='read')
  do
    read(7, iostat=s) c
    if (s /= 0) exit
    n = n + 1
  end do
  print '(i0)', n
end program main`,
  recipe: {
    source: 'main.f90',
    compile: {
      commands: [['gfortran', '-O2', '-o', 'main', 'main.f90']],
      makes: 'main',
      together: ['.f90', '.f95', '.f03'],
    },
    run: ['./main'],
  },
} as const satisfies LanguageDefinition
