#include "session/inputs/samples.h"

#include "base/json.h"

#include <algorithm>
#include <iterator>

namespace fusescope {

std::vector<std::map<std::string, Tensor>> Samples::inputs() const {
  std::vector<std::map<std::string, Tensor>> all;
  for (const Sample& sample : list) all.push_back(sample.inputs);
  return all;
}

std::vector<std::string> Samples::names() const {
  std::vector<std::string> all;
  for (const Sample& sample : list) all.push_back(sample.name);
  return all;
}

std::vector<NotFiniteInput> notFiniteInputs(const Samples& samples) {
  std::vector<NotFiniteInput> all;
  for (const Sample& sample : samples.list)
    std::ranges::move(notFiniteInputs(sample.inputs, sample.name), std::back_inserter(all));
  return all;
}

Diagnostic ofSample(Diagnostic error, const Sample& sample, std::size_t samples) {
  return onSample(std::move(error), samples > 1 ? sample.name : "");
}

void addSamples(Json& json, const Samples& samples) {
  json["samples"] = samples.list.size();
  json["random_inputs"] = samples.random;
  json["example_inputs"] = !samples.carriedIn.empty();
  json["not_finite_inputs"] = Json::array();
  for (const NotFiniteInput& input : notFiniteInputs(samples))
    json["not_finite_inputs"].push_back(
        {{"sample", input.sample}, {"input", input.input}, {"nan", input.nan}, {"infinite", input.infinite}});
}

}  // namespace fusescope
