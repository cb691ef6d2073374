// The keeper as a program of its own, which starts programs with exec, or a runtime ahead of them.
#include "keeper.h"

int main(void) {
  setup();
  serve();
}
