#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "engine/input_check.h"
#include "planning/plan.h"
#include "session/sample_source.h"

namespace fusescope {

/// Values for all inputs of a network, by name.
struct Sample {
  std::string name;  ///< unique among its samples: of the file it came from, "photo", "inputs_3"
  std::map<std::string, Tensor> inputs;
};

/// What a network is run on: one or more sets of inputs.
struct Samples {
  std::vector<Sample> list;  ///< at least one
  bool random = false;       ///< nobody gave inputs: numbers made with these say so
  std::string carriedIn{};   ///< nobody gave inputs, and these are the examples in this file; else empty
  const std::map<std::string, Tensor>& first() const { return list.front().inputs; }
  std::vector<std::map<std::string, Tensor>> inputs() const;  ///< of each
  std::vector<std::string> names() const;                     ///< of each
};

/// Reads all of `source`, each path as input_files.h says; whole and checked: every input is there, of the type and
/// extents that `plan` takes. .npy and .pb files that are given one by one make a sample together, until one is of an
/// input that the sample has already: it begins the next. Without a path: one random sample; an input whose extents
/// nobody knows is an error then. Errors name file and input.
Result<Samples> loadSamples(const Plan& plan, const SampleSource& source);

/// The example inputs in the file that the network was read from, where nobody gave others and `plan` takes them;
/// Samples::carriedIn is that file. `whyNot` says why examples that are there are not taken.
std::optional<Samples> carriedSamples(const Plan& plan, const SampleSource& given, std::string& whyNot);

/// `source`, or where it is empty the file that the network was read from, if that carries example inputs that `plan`
/// takes; empty where it carries none. `whyNot` says why examples that are there are not taken.
SampleSource orCarried(const SampleSource& source, const Plan& plan, std::string& whyNot);

/// loadSamples(), or those that the network carries.
Result<Samples> loadSamplesOrCarried(const Plan& plan, const SampleSource& source, std::string& whyNot);

/// `error` with the name of the sample that was run when it came; where there is one sample alone, as it is.
Diagnostic ofSample(Diagnostic error, const Sample& sample, std::size_t samples);
/// The same of what a run gave.
template <class T>
Result<T> inSample(Result<T> result, const Sample& sample, std::size_t samples) {
  if (result.ok()) return result;
  return ofSample(std::move(result).error(), sample, samples);
}

/// What holds NaN or infinities in `samples`, sample by sample.
std::vector<NotFiniteInput> notFiniteInputs(const Samples& samples);

/// {samples, random_inputs, example_inputs, not_finite_inputs[{sample, input, nan, infinite}]}: how many, whether
/// nobody gave them and they are random or the network's examples, and which of them hold what is no number.
void addSamples(Json& json, const Samples& samples);

}  // namespace fusescope
