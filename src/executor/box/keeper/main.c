// The keeper as a stand-alone program. It starts programs with exec, or prestarts a runtime for them.
#include "keeper.h"

int main(void) {
  setup();
  serve();
}
