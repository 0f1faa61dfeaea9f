#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "engine/input_check.h"
#include "ir/tensor.h"
#include "planning/plan.h"
#include "session/sample_source.h"

namespace fusescope {

/// Values for all inputs of a network, by name.
struct Sample {
  std::string name;  ///< unique among the samples; derived from the file: "photo", "inputs_3"
  std::map<std::string, Tensor> inputs;
};

/// One or more sets of inputs on which a network is run.
struct Samples {
  std::vector<Sample> list;  ///< at least one
  bool random = false;       ///< nobody gave inputs; numbers that are made with these say so
  std::string carriedIn{};   ///< nobody gave inputs, and these are the examples in this file; otherwise empty
  const std::map<std::string, Tensor>& first() const { return list.front().inputs; }
  std::vector<std::map<std::string, Tensor>> inputs() const;  ///< for each sample
  std::vector<std::string> names() const;                     ///< for each sample
};

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

/// Adds the name of the sample that was running to `error`, unless there is only one sample.
Diagnostic ofSample(Diagnostic error, const Sample& sample, std::size_t samples);
/// Does the same for the result of a run.
template <class T>
Result<T> inSample(Result<T> result, const Sample& sample, std::size_t samples) {
  if (result.ok()) return result;
  return ofSample(std::move(result).error(), sample, samples);
}

/// Returns the inputs in `samples` that contain NaN or infinities, sample by sample.
std::vector<NotFiniteInput> notFiniteInputs(const Samples& samples);

/// Adds {samples, random_inputs, example_inputs, not_finite_inputs[{sample, input, nan, infinite}]}: how many samples
/// there are, whether they are random or the network's examples because nobody gave inputs, and which inputs contain
/// NaN or infinities.
void addSamples(Json& json, const Samples& samples);

}  // namespace fusescope
