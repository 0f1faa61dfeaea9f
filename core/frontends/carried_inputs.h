#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/input_spec_metadata.h"

namespace fusescope {

/// Why `said` cannot be meant for the input of that place; empty: it can.
using SpecMisfit = std::function<std::string(const InputSpec& said, std::size_t input)>;

/// Puts what `text` says, metadata under kInputSpecsKey, into the specs of the inputs that it names, where the file
/// itself leaves them open: those whose source is not "file". What cannot be meant, what cannot be read, and what is of
/// a newer version leaves a decision, and the specs as they are.
void takeCarriedInputs(std::string_view text, std::vector<InputSpec>& specs, const SpecMisfit& misfit,
                       std::vector<Decision>& decisions);

/// The ranges that PyTorch's exporter left in an .onnx file, `text`, with those that the inputs have now in their
/// place. Empty: the text is not as PyTorch writes it.
std::string exporterRangesWith(std::string_view text, const std::vector<CarriedInput>& inputs);

/// The inputs of `model` that are worth carrying: all but those whose extents were only assumed.
std::vector<CarriedInput> carriedInputsOf(const Model& model);

}  // namespace fusescope
