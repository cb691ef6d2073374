// What the driver (driver.cpp) and the library that is preloaded into GCC (await-source.cpp) agree on.
#pragma once

/** Set in what waits for a source: the headers to map meanwhile, paths between colons. */
constexpr char gateVariable[] = "SOURCE_IS_AWAITED";

/** Pipes: a byte says that GCC would open its source, another that the source is there. */
enum GateDescriptor : int { saidDescriptor = 3, goDescriptor = 4 };
