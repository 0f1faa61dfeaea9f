#include "compilers/probed/network_digests.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include "base/deferred_file.h"
#include "base/hash.h"
#include "base/text.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {
namespace {

using onnxlib::FileAttributeValue;
using onnxlib::FileGraph;
using onnxlib::FileNode;
using onnxlib::FileTensor;
using onnxlib::FileType;

constexpr const char* kOperators = "operators";
constexpr std::array kParts{kOperators, "attributes", "extents", "types", "weights"};
/// An integer operand with at most so many elements is an argument of its operator, and not a weight.
constexpr std::int64_t kMostArguments = 64;

/// Hashes the parts of a network. Values are numbered in the order in which they occur; the result of a Cast has the
/// number of its operand.
class PartHasher {
 public:
  void network(const onnxlib::FileModel& model) {
    for (const auto& [domain, version] : model.opsets) m_operators.text(domain).number(version);
    graph(model.graph);
    for (const onnxlib::FileFunction& function : model.functions) {
      m_operators.text(function.domain).text(function.name);
      for (const FileNode& each : function.nodes) node(each);
    }
  }

  Json digests() const {
    Json json;
    const std::array hashes{&m_operators, &m_attributes, &m_extents, &m_types, &m_weights};
    for (std::size_t i = 0; i < kParts.size(); ++i) json[kParts[i]] = hashes[i]->hash().hex();
    return json;
  }

 private:
  void graph(const FileGraph& graph) {
    for (const FileTensor& tensor : graph.initializers) m_tensors.insert_or_assign(tensor.name, &tensor);
    for (const onnxlib::FileValue& input : graph.inputs) {
      m_operators.number(numberOf(input.name));
      type(input.type);
    }
    for (const FileNode& each : graph.nodes) node(each);
    for (const onnxlib::FileValue& output : graph.outputs) {
      m_operators.number(numberOf(output.name));
      type(output.type);
    }
  }

  void node(const FileNode& node) {
    const bool isCast = node.op == "Cast" && node.domain.empty() && node.inputs.size() == 1 && node.outputs.size() == 1;
    if (isCast) {
      const std::size_t operand = numberOf(node.inputs[0]);
      m_numbers.insert_or_assign(node.outputs[0], operand);
      m_types.text("cast").number(operand);
      for (const onnxlib::FileAttribute& each : node.attributes) value(each.value, m_types);
      return;
    }
    m_operators.text(node.domain).text(node.op).text(node.overload);
    for (const std::string& input : node.inputs) m_operators.number(numberOf(input));
    m_operators.text("->");
    for (const std::string& output : node.outputs) m_operators.number(numberOf(output));
    for (const onnxlib::FileAttribute& each : node.attributes) {
      m_attributes.text(each.name).text(each.reference);
      value(each.value, m_attributes);
    }
  }

  /// Returns the number of a value. An initializer is hashed where it is read first.
  std::size_t numberOf(const std::string& name) {
    const auto [entry, isNew] = m_numbers.try_emplace(name, m_next);
    const std::size_t number = entry->second;
    if (!isNew) return number;
    ++m_next;
    if (const auto known = m_tensors.find(name); known != m_tensors.end()) tensor(*known->second);
    return number;
  }

  void value(const FileAttributeValue& value, KeyBuilder& key) {
    key.number(value.index());
    std::visit([&](const auto& each) { add(each, key); }, value);
  }

  static void add(std::monostate, KeyBuilder&) {}
  static void add(std::int64_t number, KeyBuilder& key) { key.number(number); }
  static void add(float number, KeyBuilder& key) { key.number(number); }
  static void add(const std::string& text, KeyBuilder& key) { key.text(text); }
  template <class T>
  static void add(const std::vector<T>& list, KeyBuilder& key) {
    key.number(list.size());
    for (const T& each : list) add(each, key);
  }
  void add(const FileTensor& each, KeyBuilder&) { tensor(each); }
  void add(const FileType& each, KeyBuilder&) { type(each); }
  void add(const std::shared_ptr<const FileGraph>& body, KeyBuilder& key) {
    key.text("body");
    if (body != nullptr) graph(*body);
  }

  void type(const FileType& type) {
    m_types.number(type.dtype).number(type.container);
    m_extents.number(type.ranked);
    for (const onnxlib::FileDim& dim : type.dims) m_extents.number(dim.size).text(dim.symbol);
  }

  void tensor(const FileTensor& tensor) {
    std::int64_t count = 1;
    for (const std::int64_t extent : tensor.dims) count *= extent;
    m_types.number(tensor.dtype);
    m_extents.number(tensor.dims.size());
    for (const std::int64_t extent : tensor.dims) m_extents.number(extent);
    const bool isInteger = tensor.dtype == DataType::I64 || tensor.dtype == DataType::I32;
    KeyBuilder& key = isInteger && tensor.dims.size() < 2 && count <= kMostArguments ? m_attributes : m_weights;
    for (const std::string& text : tensor.strings) key.text(text);
    if (tensor.data == nullptr) return;
    const Hash128 hash = hashBytes({tensor.data, byteSize(tensor.dtype, count)});
    key.number(hash.high).number(hash.low);
  }

  KeyBuilder m_operators, m_attributes, m_extents, m_types, m_weights;
  std::map<std::string, std::size_t> m_numbers;
  std::size_t m_next = 0;  ///< the number of the next value
  std::map<std::string, const FileTensor*> m_tensors;
};

}  // namespace

Json networkDigests(const std::map<std::string, std::filesystem::path>& files) {
  const auto file = files.find("network.onnx");
  if (file == files.end()) return nullptr;
  if (!writeDeferred(files).ok()) return nullptr;
  const auto model = onnxlib::readModel(file->second);
  if (!model.ok()) return nullptr;
  PartHasher hasher;
  hasher.network(model.value());
  return hasher.digests();
}

std::vector<std::string> partsThatDiffer(const Json& here, const Json& nearest) {
  std::vector<std::string> parts;
  for (const char* part : kParts) {
    const auto in = [&](const Json& json) { return json.is_object() ? json.value(part, Json()) : Json(); };
    if (in(here).is_null() || in(nearest).is_null()) return {};
    if (in(here) != in(nearest)) parts.emplace_back(part);
  }
  return parts;
}

std::string differenceInWords(const std::vector<std::string>& parts) {
  if (parts.empty()) return {};
  std::vector<std::string> same;
  for (const char* part : kParts)
    if (std::ranges::find(parts, part) == parts.end()) same.emplace_back(part);
  const auto listed = [](const std::vector<std::string>& words) {
    if (words.size() == 1) return words.front();
    const std::vector<std::string> first(words.begin(), words.end() - 1);
    return joined(first) + " and " + words.back();
  };
  if (same.empty()) return fmt::format("the {} differ", listed(parts));
  return fmt::format("the {} differ; the {} are the same", listed(parts), listed(same));
}

}  // namespace fusescope
