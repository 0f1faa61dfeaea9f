#include "analysis/structural_key_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "analysis/structural_key.h"
#include "base/hash.h"
#include "base/key_fields.h"
#include "base/text.h"
#include "ir/graph.h"

// Reads what structural_key.cpp writes, in the same order.
namespace fusescope {
namespace {

/// The most elements of a constant or list that are told; a longer one is told by its hash.
constexpr std::size_t kMostTold = 8;
/// More fields than this of one kind mean that the bytes are not a key.
constexpr std::uint64_t kMostCounted = 1 << 20;

std::string toldByHash(std::string_view bytes) {
  return "hash " + hashText(bytes).hex().substr(0, 8);
}

std::string listText(const std::vector<std::string>& elements) {
  return elements.size() <= kMostTold ? joined(elements, " ") : toldByHash(joined(elements, " "));
}

class PartsReader {
 public:
  explicit PartsReader(std::string_view key) : m_fields(key) {}

  std::optional<StructuralParts> read() {
    m_parts.context = m_fields.text();
    for (std::uint64_t nodes = count(); nodes > 0 && m_fields.isWhole(); --nodes) readNode();
    if (!m_fields.isWhole() || !m_fields.isAtEnd()) return std::nullopt;
    return std::move(m_parts);
  }

 private:
  std::uint64_t count() {
    const auto number = m_fields.number<std::uint64_t>();
    return number <= kMostCounted ? number : 0;
  }

  void readNode() {
    const std::string domain(m_fields.text()), op(m_fields.text());
    m_parts.operators.push_back(domain.empty() ? op : domain + "." + op);
    for (std::uint64_t attributes = count(); attributes > 0 && m_fields.isWhole(); --attributes) {
      const std::string name(m_fields.text());
      m_parts.attributes.push_back(name + "=" + attributeText(m_fields.number<std::size_t>()));
    }
    const std::string operands = valuesText();
    m_parts.wiring.push_back(operands + " > " + valuesText());
  }

  /// `type` is the index in the variant Attribute.
  std::string attributeText(std::size_t type) {
    switch (type) {
      case 0:
        return std::to_string(m_fields.number<std::int64_t>());
      case 1:
        return fmt::format("{}", m_fields.number<float>());
      case 2:
        return std::string(m_fields.text());
      case 3:
        return listOf([&] { return std::to_string(m_fields.number<std::int64_t>()); });
      case 4:
        return listOf([&] { return fmt::format("{}", m_fields.number<float>()); });
      case 5:
        return listOf([&] { return std::string(m_fields.text()); });
      case 6: {
        StructuralParts::NamedValue tensor;
        readTensor(tensor, true);
        return fmt::format("{}[{}] {}", tensor.type, tensor.extents, tensor.content);
      }
      default:
        return toldByHash(m_fields.text());
    }
  }

  template <class ReadElement>
  std::string listOf(const ReadElement& element) {
    std::vector<std::string> elements;
    for (std::uint64_t left = count(); left > 0 && m_fields.isWhole(); --left) elements.push_back(element());
    return listText(elements);
  }

  void readTensor(StructuralParts::NamedValue& value, bool isAttribute) {
    value.type = m_fields.text();
    const auto type = dataTypeFromName(value.type).value_or(DataType::Undefined);
    Dims dims;
    for (std::uint64_t rank = count(); rank > 0 && m_fields.isWhole(); --rank) {
      dims.push_back(m_fields.number<std::int64_t>());
      value.extents += (value.extents.empty() ? "" : "x") + std::to_string(dims.back());
    }
    const auto elements = elementCount(dims);
    if (!elements) return;
    if (!isAttribute && !isStructural(Tensor::withoutData(type, dims))) return;
    value.content = contentText(type, dims, *elements);
  }

  std::string contentText(DataType type, const Dims& dims, std::int64_t elements) {
    std::vector<std::string> texts;
    if (type == DataType::String) {
      for (; elements > 0 && m_fields.isWhole(); --elements) texts.emplace_back(m_fields.text());
      return listText(texts);
    }
    const std::string_view bytes = m_fields.text();
    const bool isShort = std::cmp_less_equal(elements, kMostTold) && bitWidth(type) > 0;
    if (!isShort || bytes.size() != byteSize(type, elements)) return toldByHash(bytes);
    Tensor tensor = Tensor::zeros(type, dims);
    std::ranges::copy(std::as_bytes(std::span(bytes)), tensor.mutableBytes());
    for (std::int64_t i = 0; i < elements; ++i) texts.push_back(fmt::format("{}", tensor.asDouble(i)));
    return listText(texts);
  }

  std::string valuesText() {
    std::vector<std::string> numbers;
    for (std::uint64_t left = count(); left > 0 && m_fields.isWhole(); --left) numbers.push_back(valueText());
    return joined(numbers, " ");
  }

  /// A value is described where it is first named. Whether it is a constant is only seen from the next field.
  std::string valueText() {
    KeyFields number = m_fields;
    const auto place = number.number<std::uint32_t>();
    if (!number.isWhole()) return m_fields.text() == "absent" ? "-" : "?";
    m_fields = number;
    if (place != m_parts.values.size()) return std::to_string(place);
    StructuralParts::NamedValue value{.description = std::string(m_fields.text())};
    KeyFields next = m_fields;
    if (next.text() == "constant" && isTypeName(next)) {
      m_fields.text();
      value.isConstant = true;
      readTensor(value, false);
    }
    m_parts.values.push_back(std::move(value));
    return std::to_string(place);
  }

  /// An operator of this domain could be called "constant" too; its next field would not be a type.
  static bool isTypeName(KeyFields fields) { return dataTypeFromName(fields.text()).has_value(); }

  KeyFields m_fields;
  StructuralParts m_parts;
};

}  // namespace

std::optional<StructuralParts> structuralPartsOf(std::string_view key) {
  return PartsReader(key).read();
}

}  // namespace fusescope
