#include "verify/region_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "backends/reference/convert_elements.h"
#include "base/number_range.h"
#include "base/random_numbers.h"

namespace fusescope {
namespace {

/// Squares of this number and sums of them fit into float16; other types have a much larger range.
constexpr double kLargeOfNarrow = 32, kLarge = 0x1p20;

bool holdsFloats(const TensorDesc& desc) {
  return isFloat(desc.dtype);
}

/// Fills a tensor with `element(i)`.
Tensor filled(const TensorDesc& desc, const std::function<float(std::int64_t)>& element) {
  Tensor tensor = Tensor::zeros(DataType::F32, desc.dims);
  const auto values = tensor.mutableData<float>();
  for (std::int64_t i = 0; i < tensor.count(); ++i) values[static_cast<std::size_t>(i)] = element(i);
  return convertedTensor(tensor, desc.dtype);
}

/// Returns the smallest positive number of `type` that float32 represents.
double leastDenormal(DataType type) {
  const double ofType = 1 / UnitsInLastPlace(type).of(1, 0);
  return std::max(ofType, static_cast<double>(std::numeric_limits<float>::denorm_min()));
}

class CaseMaker {
 public:
  CaseMaker(const KernelRequest& request, std::span<const Tensor> given) {
    const std::vector<ValueId>& inputs = request.fused->inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      m_descs.push_back(request.values.at(inputs[i]));
      m_given.push_back(convertedTensor(given[i], m_descs.back().dtype));
    }
  }

  std::vector<Tensor> given() const { return m_given; }

  /// Fills with `element`, a function of a random number, the index of the element, and its type.
  template <class Element>
  RegionCase made(std::string name, std::uint64_t seed, Element element) const {
    RegionCase made{std::move(name), m_given};
    RandomNumbers numbers(seed);
    for (std::size_t k = 0; k < m_descs.size(); ++k) {
      if (!holdsFloats(m_descs[k])) continue;
      const DataType type = m_descs[k].dtype;
      made.inputs[k] =
          filled(m_descs[k], [&](std::int64_t i) { return static_cast<float>(element(numbers, i, type)); });
    }
    return made;
  }

  bool hasFloats() const { return std::ranges::any_of(m_descs, holdsFloats); }

 private:
  std::vector<TensorDesc> m_descs;
  std::vector<Tensor> m_given;
};

}  // namespace

RegionCase givenCase(const KernelRequest& request, std::string name, std::span<const Tensor> given) {
  return {std::move(name), CaseMaker(request, given).given()};
}

std::vector<RegionCase> madeCases(const KernelRequest& request, std::span<const Tensor> given, int seeds) {
  const CaseMaker maker(request, given);
  std::vector<RegionCase> cases;
  if (!maker.hasFloats()) return cases;
  const auto normal = [](RandomNumbers& numbers, std::int64_t, DataType) { return numbers.normal(); };
  for (int seed = 0; seed < seeds; ++seed)
    cases.push_back(maker.made(fmt::format("random {}", seed), static_cast<std::uint64_t>(seed), normal));
  const std::size_t edges = cases.size();
  cases.push_back(
      maker.made("zeros", 0, [](RandomNumbers&, std::int64_t i, DataType) { return i % 3 == 0 ? -0.0 : 0.0; }));
  cases.push_back(maker.made("denormals", 0, [](RandomNumbers& numbers, std::int64_t, DataType type) {
    return leastDenormal(type) * std::floor(16 * numbers.uniform() - 8);
  }));
  cases.back().denormals = true;
  cases.push_back(maker.made("large", 0, [](RandomNumbers& numbers, std::int64_t, DataType type) {
    const double most = rangeOf(type)->most;
    return numbers.normal() * (most > 1e6 ? kLarge : std::min(kLargeOfNarrow, most / 8));
  }));
  cases.push_back(maker.made("NaN and infinities", 1, [](RandomNumbers& numbers, std::int64_t i, DataType) {
    const double value = numbers.normal();
    if (i == 1) return static_cast<double>(NAN);
    if (i == 5) return static_cast<double>(INFINITY);
    return i == 9 ? -static_cast<double>(INFINITY) : value;
  }));
  for (std::size_t i = edges; i < cases.size(); ++i) cases[i].isEdge = true;
  return cases;
}

}  // namespace fusescope
