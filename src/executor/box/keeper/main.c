// The keeper as a program of its own, which starts programs with exec.
#include "keeper.h"

int main(void) {
  setup();
  serve(false);
}
