// What the driver (driver.cpp) and made-templates.cpp agree on.
#pragma once

/** GCC's exit code when a program uses what is made in its header. */
constexpr int usesMadeTemplate = 75;
