#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/input_spec_metadata.h"

namespace fusescope {

/// Returns why `said` cannot be the spec of this input, or an empty text if it can.
using SpecMisfit = std::function<std::string(const InputSpec& said, std::size_t input)>;

/// Reads `text`, metadata under kInputSpecsKey, into the specs of the inputs that it names. Only inputs that the file
/// itself leaves open are changed: those whose source is not "file". A decision records what does not fit an input,
/// what cannot be read, and a version that is too new; the specs are then unchanged.
void takeCarriedInputs(std::string_view text, std::vector<InputSpec>& specs, const SpecMisfit& misfit,
                       std::vector<Decision>& decisions);

/// Returns `text`, the ranges that PyTorch's exporter wrote into an .onnx file, with the current ranges of `inputs`. It
/// is empty if the text does not have PyTorch's form.
std::string exporterRangesWith(std::string_view text, const std::vector<CarriedInput>& inputs);

/// Returns the inputs of `model` whose descriptions should be written into files: all except those whose extents were
/// only assumed.
std::vector<CarriedInput> carriedInputsOf(const Model& model);

}  // namespace fusescope
