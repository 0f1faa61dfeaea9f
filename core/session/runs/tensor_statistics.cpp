#include "session/runs/tensor_statistics.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/float_bits.h"
#include "base/json.h"
#include "base/text.h"

namespace fusescope {
namespace {

/// The number of elements between two checks for a stop, and the number of values that are added to the histogram at
/// once.
constexpr std::int64_t kChunk = 4096;

/// Returns the smallest normal number.
double leastNormal(DataType type) {
  return type == DataType::F16 ? 0x1p-14 : 0x1p-126;
}

/// Returns a stride at which at most `most` elements are read, and every column of `dims` is met.
std::int64_t strideFor(const Dims& dims, std::int64_t count, std::int64_t most) {
  if (count <= most) return 1;
  std::int64_t stride = (count + most - 1) / std::max<std::int64_t>(most, 1);
  const std::int64_t columns = dims.empty() ? 1 : dims.back();
  while (std::gcd(stride, columns) != 1) ++stride;
  return stride;
}

/// Counts different elements until there are too many of them.
class DistinctNumbers {
 public:
  /// `text` is called only if the number is new.
  template <class Key, class Text>
  void add(std::map<Key, std::pair<std::string, std::int64_t>>& known, const Key& key, const Text& text) {
    if (m_many) return;
    const auto [found, isNew] = known.try_emplace(key);
    if (isNew) found->second.first = text();
    ++found->second.second;
    if (known.size() <= TensorStatistics::kMostDistinct) return;
    m_many = true;
    known.clear();
  }

 private:
  bool m_many = false;
};

template <class Key>
std::vector<std::pair<std::string, std::int64_t>> inOrder(
    const std::map<Key, std::pair<std::string, std::int64_t>>& known) {
  std::vector<std::pair<std::string, std::int64_t>> all;
  for (const auto& entry : known) all.push_back(entry.second);
  return all;
}

Result<TensorStatistics> statisticsOfTexts(const Tensor& tensor, TensorStatistics statistics, const StopToken& stop) {
  std::map<std::string, std::pair<std::string, std::int64_t>> known;
  DistinctNumbers distinct;
  for (std::int64_t i = 0; i < statistics.count; i += statistics.stride) {
    if (statistics.looked++ % kChunk == 0) TRY(checkStop(stop));
    distinct.add(known, tensor.strings()[static_cast<std::size_t>(i)], [&] { return elementText(tensor, i); });
  }
  statistics.distinct = inOrder(known);
  return statistics;
}

/// Collects statistics of a tensor of numbers, element by element.
class NumberStatistics {
 public:
  NumberStatistics(const Tensor& tensor, TensorStatistics& into) : m_tensor(tensor), m_into(into) {
    for (const DataType type : narrowTypesFor(tensor.type())) m_into.narrow.push_back({.type = type});
  }

  void add(std::int64_t i) {
    const double number = m_tensor.asDouble(i);
    ++m_into.looked;
    if (std::isnan(number)) return void(++m_into.nan);
    if (std::isinf(number)) return void(++m_into.infinite);
    if (number == 0) ++m_into.zeros;
    if (!m_into.hasNumbers() || number < m_into.least) std::tie(m_into.least, m_into.leastAt) = std::tuple(number, i);
    if (m_into.mostAt < 0 || number > m_into.most) std::tie(m_into.most, m_into.mostAt) = std::tuple(number, i);
    m_sum += number;
    m_squares += static_cast<long double>(number) * number;
    for (NarrowCounts& narrow : m_into.narrow) {
      const NarrowFate fate = fateIn(narrow.type, number);
      narrow.overflow += fate == NarrowFate::Overflows ? 1 : 0;
      narrow.underflow += fate == NarrowFate::Underflows ? 1 : 0;
      narrow.denormal += fate == NarrowFate::Denormal ? 1 : 0;
    }
    m_distinct.add(m_known, number, [&] { return elementText(m_tensor, i); });
    m_chunk[m_filled++] = static_cast<float>(number);
    if (m_filled == m_chunk.size()) flush();
  }

  void finish() {
    flush();
    const std::int64_t finite = m_into.looked - m_into.nan - m_into.infinite;
    if (finite > 0) {
      m_into.mean = static_cast<double>(m_sum / static_cast<long double>(finite));
      m_into.rms = static_cast<double>(std::sqrt(m_squares / static_cast<long double>(finite)));
    }
    m_into.distinct = inOrder(m_known);
  }

 private:
  void flush() {
    m_into.histogram.add(std::span(m_chunk).first(m_filled));
    m_filled = 0;
  }

  const Tensor& m_tensor;
  TensorStatistics& m_into;
  long double m_sum = 0, m_squares = 0;
  std::map<double, std::pair<std::string, std::int64_t>> m_known;
  DistinctNumbers m_distinct;
  std::array<float, kChunk> m_chunk{};
  std::size_t m_filled = 0;
};

Json numberOrNull(double number, bool known) {
  return known && std::isfinite(number) ? Json(number) : Json(nullptr);
}

Json indicesJson(const Dims& dims, std::int64_t i) {
  if (i < 0) return nullptr;
  std::vector<std::int64_t> indices(dims.size());
  for (std::size_t axis = dims.size(); axis-- > 0; i /= dims[axis]) indices[axis] = i % dims[axis];
  return indices;
}

}  // namespace

NarrowFate fateIn(DataType narrow, double number) {
  if (!std::isfinite(number) || number == 0) return NarrowFate::Kept;
  if (!isNarrow(narrow) && narrow != DataType::F32) return NarrowFate::Kept;
  const auto single = static_cast<float>(number);
  const double rounded = std::abs(static_cast<double>(narrow == DataType::F32 ? single : roundedTo(narrow, single)));
  if (!std::isfinite(rounded)) return NarrowFate::Overflows;
  if (rounded == 0) return NarrowFate::Underflows;
  return rounded < leastNormal(narrow) ? NarrowFate::Denormal : NarrowFate::Kept;
}

std::vector<DataType> narrowTypesFor(DataType type) {
  if (type == DataType::F64) return {DataType::F32, DataType::BF16, DataType::F16};
  if (type == DataType::F32) return {DataType::BF16, DataType::F16};
  if (type == DataType::BF16) return {DataType::F16};
  if (type == DataType::F16) return {DataType::BF16};
  return {};
}

std::string whyNoNumbers(const Tensor& tensor) {
  if (tensor.container() != Container::None)
    return fmt::format("it is a {} of {}, not a tensor",
                       tensor.container() == Container::Sequence ? "sequence" : "optional value",
                       counted(std::ssize(tensor.elements()), "tensor"));
  if (tensor.count() == 0) return "it has no elements";
  if (!tensor.hasData()) return "the file contains no data for it, only its type and extents";
  if (tensor.type() == DataType::C64 || tensor.type() == DataType::C128) return "its numbers are complex";
  return tensor.type() == DataType::String ? "it contains strings" : std::string();
}

Result<TensorStatistics> statisticsOf(const Tensor& tensor, std::int64_t mostElements, const StopToken& stop) {
  TensorStatistics statistics{.count = tensor.count()};
  statistics.unavailable = whyNoNumbers(tensor);
  const bool isText = tensor.type() == DataType::String && tensor.container() == Container::None && tensor.hasData();
  if (!statistics.unavailable.empty() && !(isText && statistics.count > 0)) return statistics;
  statistics.stride = strideFor(tensor.dims(), statistics.count, mostElements);
  if (isText) return statisticsOfTexts(tensor, std::move(statistics), stop);
  NumberStatistics numbers(tensor, statistics);
  for (std::int64_t i = 0, looked = 0; i < statistics.count; i += statistics.stride, ++looked) {
    if (looked % kChunk == 0) TRY(checkStop(stop));
    numbers.add(i);
  }
  numbers.finish();
  return statistics;
}

std::string elementText(const Tensor& tensor, std::int64_t i) {
  if (tensor.type() == DataType::String) return fmt::format("\"{}\"", tensor.strings()[static_cast<std::size_t>(i)]);
  if (tensor.type() == DataType::Bool) return tensor.asInt64(i) != 0 ? "true" : "false";
  if (tensor.type() == DataType::U64) return fmt::format("{}", static_cast<std::uint64_t>(tensor.asInt64(i)));
  if (isInteger(tensor.type())) return fmt::format("{}", tensor.asInt64(i));
  const double number = tensor.asDouble(i);
  return tensor.type() == DataType::F64 ? fmt::format("{}", number) : fmt::format("{}", static_cast<float>(number));
}

std::string indexText(const Dims& dims, std::int64_t i) {
  const Json indices = indicesJson(dims, i);
  std::vector<std::string> texts;
  for (const Json& index : indices) texts.push_back(std::to_string(index.get<std::int64_t>()));
  return fmt::format("[{}]", joined(texts));
}

Json toJson(const TensorStatistics& statistics, const Tensor& tensor) {
  const bool known = statistics.hasNumbers();
  Json json = {{"count", statistics.count}};
  json["unavailable"] = statistics.unavailable.empty() ? Json(nullptr) : Json(statistics.unavailable);
  json["looked_at"] = statistics.looked;
  json["stride"] = statistics.stride;
  json["zeros"] = statistics.zeros;
  json["nan"] = statistics.nan;
  json["infinite"] = statistics.infinite;
  json["min"] = numberOrNull(statistics.least, known);
  json["max"] = numberOrNull(statistics.most, known);
  json["mean"] = numberOrNull(statistics.mean, known);
  json["rms"] = numberOrNull(statistics.rms, known);
  json["min_at"] = indicesJson(tensor.dims(), statistics.leastAt);
  json["max_at"] = indicesJson(tensor.dims(), statistics.mostAt);
  json["distinct"] = json["narrow"] = Json::array();
  for (const auto& [value, count] : statistics.distinct)
    json["distinct"].push_back({{"value", value}, {"count", count}});
  for (const NarrowCounts& narrow : statistics.narrow)
    json["narrow"].push_back({{"type", name(narrow.type)},
                              {"overflow", narrow.overflow},
                              {"underflow", narrow.underflow},
                              {"denormal", narrow.denormal}});
  return json;
}

Result<TensorDifference> differenceOf(const Tensor& actual, const Tensor& expected, const StopToken& stop) {
  TensorDifference difference;
  for (const Tensor* tensor : {&expected, &actual})
    if (difference.unavailable.empty()) difference.unavailable = whyNoNumbers(*tensor);
  if (difference.unavailable.empty() && actual.dims() != expected.dims())
    difference.unavailable = "both have different extents";
  if (!difference.unavailable.empty()) return difference;
  difference.tensor = Tensor::zeros(DataType::F32, actual.dims());
  const auto differences = difference.tensor.mutableData<float>();
  long double squares = 0;
  std::int64_t finite = 0;
  for (std::int64_t i = 0; i < actual.count(); ++i) {
    if (i % kChunk == 0) TRY(checkStop(stop));
    const double of = actual.asDouble(i), reference = expected.asDouble(i);
    float& apart = differences[static_cast<std::size_t>(i)];
    apart = std::numeric_limits<float>::quiet_NaN();
    if (!std::isfinite(reference)) continue;
    squares += static_cast<long double>(reference) * reference;
    ++finite;
    if (!std::isfinite(of)) {
      if (difference.notFinite++ == 0) difference.firstNotFinite = i;
      continue;
    }
    apart = static_cast<float>(of - reference);
    if (difference.at >= 0 && std::abs(of - reference) <= difference.maxAbs) continue;
    difference.maxAbs = std::abs(of - reference);
    difference.at = i;
  }
  if (finite > 0) difference.rms = static_cast<double>(std::sqrt(squares / static_cast<long double>(finite)));
  const bool differs = difference.maxAbs > 0;
  difference.maxOverRms = difference.rms > 0 ? difference.maxAbs / difference.rms
                          : differs          ? std::numeric_limits<double>::infinity()
                                             : 0.0;
  return difference;
}

Json toJson(const TensorDifference& difference) {
  if (!difference.unavailable.empty()) return {{"unavailable", difference.unavailable}};
  const Dims& dims = difference.tensor.dims();
  return {{"unavailable", nullptr},
          {"max_abs", numberOrNull(difference.maxAbs, difference.at >= 0)},
          {"rms", difference.rms},
          {"max_over_rms", numberOrNull(difference.maxOverRms, difference.at >= 0)},
          {"at", indicesJson(dims, difference.at)},
          {"not_finite", difference.notFinite},
          {"first_not_finite", indicesJson(dims, difference.firstNotFinite)}};
}

}  // namespace fusescope
