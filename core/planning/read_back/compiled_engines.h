#pragma once

namespace fusescope {

// Names in CompilerIdentity::options that only a compiler has which divides a network into engines of another compiler
// and nodes that it runs itself. Each of these engines is one kernel, in a region with the kernel's name; a kernel
// without a region is in no engine.

/// The key of the target of the engines into which the compiler divides the network, as Target::fromName() accepts it.
inline constexpr const char* kEnginesFor = "engines_for";
/// The key of the type of the values before its engines, and of the weights in them, that the options of the compiler
/// ask it to narrow: "f64". The key is absent if the compiler is not asked to narrow anything.
inline constexpr const char* kEnginesNarrow = "engines_narrow";

}  // namespace fusescope
