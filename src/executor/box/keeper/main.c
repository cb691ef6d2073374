// The keeper as a program of its own, which starts what it runs with exec.
#include "keeper.h"

int main(void) {
  setup();
  serve(false);
}
