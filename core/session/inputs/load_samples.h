#pragma once

#include <optional>
#include <string>

#include "planning/plan.h"
#include "session/inputs/sample_source.h"
#include "session/inputs/samples.h"

namespace fusescope {

/// Reads all samples of `source`; input_files.h describes the files. The samples are complete and checked: every input
/// is there, with a type and extents that `plan` accepts. Separate .npy and .pb files form one sample together, until a
/// file is for an input that the sample has already; that file begins the next sample. Without a path, returns one
/// random sample; it is then an error if the extents of an input are unknown. Errors name file and input.
Result<Samples> loadSamples(const Plan& plan, const SampleSource& source);

/// Returns the example inputs in the file that the network was read from, if nobody gave other inputs and `plan`
/// accepts them; Samples::carriedIn is that file. `whyNot` says why existing examples are not used.
std::optional<Samples> carriedSamples(const Plan& plan, const SampleSource& given, std::string& whyNot);

/// Returns `source`; if that is empty, the file that the network was read from, if it contains example inputs that
/// `plan` accepts; otherwise an empty source. `whyNot` says why existing examples are not used.
SampleSource orCarried(const SampleSource& source, const Plan& plan, std::string& whyNot);

/// Returns loadSamples(), or the example inputs of the network's file.
Result<Samples> loadSamplesOrCarried(const Plan& plan, const SampleSource& source, std::string& whyNot);

}  // namespace fusescope
