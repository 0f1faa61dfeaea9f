#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "engine/kernels/input_check.h"
#include "ir/tensor.h"

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
