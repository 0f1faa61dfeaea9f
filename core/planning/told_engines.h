#pragma once

namespace fusescope {

// CompilerIdentity::options of a compiler that divides a network into engines of another compiler and what it runs
// itself. Each of these engines is one kernel, in a region of its own name; a kernel without a region is not in one.

/// The target of its engines: a name of Target::fromName().
inline constexpr const char* kEnginesFor = "engines_for";
/// The type that it was told to narrow in front of its engines, and of the weights in them: "f64". It is not there
/// where it was told to narrow nothing.
inline constexpr const char* kEnginesNarrow = "engines_narrow";

}  // namespace fusescope
