#include "backends/native/lowering/conv_weights.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"

namespace fusescope::native {

using dnnl::memory;

void ConvWeights::addBias(Weight bias) {
  m_form.folds.push_back({});
  m_parameters.push_back(std::move(bias));
}

void ConvWeights::addBatchNorm(std::vector<Weight> parameters, float epsilon) {
  m_form.folds.push_back({.isNorm = true, .epsilon = epsilon});
  for (Weight& parameter : parameters) m_parameters.push_back(std::move(parameter));
}

std::string ConvWeights::Form::text() const {
  KeyBuilder key;
  key.text("convolution").number(transposed).number(groups).number(channels).number(folds.size());
  for (const Fold& fold : folds) key.number(fold.isNorm).number(fold.epsilon);
  return key.canonical();
}

/// Multiplies the filters of output channel `c` by `factor`.
void ConvWeights::Form::scaleChannel(float* filters, std::int64_t c, float factor) const {
  const std::int64_t taps = productOf(held, 2);
  if (!transposed) {
    const std::int64_t count = held[1] * taps;
    for (std::int64_t i = 0; i < count; ++i) filters[c * count + i] *= factor;
    return;
  }
  const std::int64_t perGroup = held[1], inputs = held[0] / groups, group = c / perGroup;
  for (std::int64_t i = group * inputs; i < (group + 1) * inputs; ++i) {
    float* at = filters + (i * perGroup + c % perGroup) * taps;
    for (std::int64_t t = 0; t < taps; ++t) at[t] *= factor;
  }
}

void ConvWeights::Form::apply(std::span<const Tensor> parameters, float* filters, float* bias) const {
  std::size_t next = 0;
  for (const Fold& fold : folds) {
    const Tensor* at = &parameters[next];
    next += fold.isNorm ? 4 : 1;
    for (std::int64_t c = 0; c < channels; ++c) {
      if (!fold.isNorm) {
        if (bias != nullptr) bias[c] += static_cast<float>(at[0].asDouble(c));
        continue;
      }
      const double factor = at[0].asDouble(c) / std::sqrt(at[3].asDouble(c) + static_cast<double>(fold.epsilon));
      if (filters != nullptr) scaleChannel(filters, c, static_cast<float>(factor));
      if (bias != nullptr) bias[c] = static_cast<float>((bias[c] - at[2].asDouble(c)) * factor + at[1].asDouble(c));
    }
  }
}

/// Returns the filters with all folds applied. `numbers` contains the filters, followed by all parameters of the folds.
Tensor ConvWeights::Form::foldedFilters(std::span<const Tensor> numbers) const {
  const bool scales = std::ranges::any_of(folds, &Fold::isNorm);
  const Tensor wide = numbers[0].type() == DataType::F32 ? numbers[0] : numbers[0].converted(DataType::F32);
  if (!scales) return wide;
  Tensor folded = Tensor::copyOf(DataType::F32, held, wide.data<float>());
  apply(numbers.subspan(1), folded.mutableData<float>().data(), nullptr);
  return folded;
}

Dims ConvWeights::dims() const {
  const Dims& held = m_form.held;
  const std::int64_t groups = m_form.groups;
  const std::int64_t outputs = m_form.transposed ? held[1] : held[0] / groups;
  const std::int64_t inputs = m_form.transposed ? held[0] / groups : held[1];
  Dims dims = {outputs, inputs};
  if (groups > 1) dims.insert(dims.begin(), groups);
  dims.insert(dims.end(), held.begin() + 2, held.end());
  return dims;
}

/// Returns the layout of the filters in an ONNX file, with the axes in oneDNN's order.
memory::desc ConvWeights::heldDesc() const {
  const Dims dims = this->dims();
  Dims strides = rowMajorStrides(dims);
  if (m_form.transposed) {  // outputs and inputs of a group are exchanged
    const std::size_t out = m_form.groups > 1 ? 1 : 0;
    Dims held = dims;
    std::swap(held[out], held[out + 1]);
    strides = rowMajorStrides(held);
    std::swap(strides[out], strides[out + 1]);
  }
  return memory::desc(dims, memory::data_type::f32, strides);
}

memory::desc ConvWeights::biasDesc() const {
  return memory::desc({m_form.channels}, memory::data_type::f32, memory::format_tag::a);
}

std::vector<Weight> ConvWeights::filtersAndParameters() const {
  std::vector<Weight> weights = {m_filters};
  weights.insert(weights.end(), m_parameters.begin(), m_parameters.end());
  return weights;
}

Packing ConvWeights::packFilters(const memory::desc& target) const {
  return packingOf(m_form.text() + formatKey(target), filtersAndParameters(),
                   [form = m_form, held = heldDesc(), target](std::span<const Tensor> numbers) -> Result<Tensor> {
                     return reordered(form.foldedFilters(numbers).bytes(), held, target);
                   });
}

Packing ConvWeights::packFiltersPlain() const {
  return packingOf(
      m_form.text() + "plain", filtersAndParameters(),
      [form = m_form](std::span<const Tensor> numbers) -> Result<Tensor> { return form.foldedFilters(numbers); });
}

Packing ConvWeights::packBias() const {
  return packingOf(m_form.text() + "bias", m_parameters,
                   [form = m_form](std::span<const Tensor> numbers) -> Result<Tensor> {
                     Tensor bias = Tensor::zeros(DataType::F32, {form.channels});
                     form.apply(numbers, nullptr, bias.mutableData<float>().data());
                     return bias;
                   });
}

}  // namespace fusescope::native
