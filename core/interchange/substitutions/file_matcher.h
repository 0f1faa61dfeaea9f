#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "interchange/network_part.h"
#include "ir/model.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// The main graph of a file as substitutions look at it: nodes by their places in the file's list. `file` and `model`,
/// the same network prepared, must outlive it.
class FileMatcher {
 public:
  FileMatcher(const onnxlib::FileModel& file, const Model& model);

  const onnxlib::FileModel& file() const { return m_file; }
  const Model& model() const { return m_model; }
  const FileValues& values() const { return m_values; }
  const onnxlib::FileNode& node(std::size_t place) const { return m_file.graph.nodes[place]; }
  /// What the network calls the node: no other is called so.
  const std::string& name(std::size_t place) const { return m_model.origins[place].name; }
  std::size_t nodes() const { return m_file.graph.nodes.size(); }
  std::int64_t opset() const;

  /// Whether the node is this operator of ONNX's own domain.
  bool is(std::size_t place, std::string_view op) const;
  /// The node that makes `value`, if it is this operator.
  std::optional<std::size_t> maker(const std::string& value, std::string_view op) const;
  /// The node that alone reads `value`, which is no output of the network; nothing: there is none, or several.
  std::optional<std::size_t> onlyReader(const std::string& value) const;
  /// The other operand of a node of two operands, one of which is `value`; empty: it has others.
  std::string otherOperand(std::size_t place, const std::string& value) const;
  const std::string& result(std::size_t place) const { return node(place).outputs.front(); }

  /// The constant that `value` is: a weight with data, or what a Constant node holds.
  std::optional<Tensor> constant(const std::string& value) const;
  std::optional<double> number(const std::string& value) const;  ///< of a constant of one element
  std::optional<std::vector<std::int64_t>> integers(const std::string& value) const;
  bool isNumber(const std::string& value, double number) const;  ///< to a part in a thousand, as narrow floats round

  std::int64_t integer(std::size_t place, std::string_view attribute, std::int64_t otherwise) const;
  float real(std::size_t place, std::string_view attribute, float otherwise) const;
  std::vector<std::int64_t> list(std::size_t place, std::string_view attribute) const;
  std::string text(std::size_t place, std::string_view attribute, std::string_view otherwise) const;

  /// Whether nobody but nodes of `places` reads what they make, `last` apart, and none of it is an output.
  bool isClosed(const std::set<std::size_t>& places, const std::string& last) const;
  /// The type of a value as far as it is known; of one that normalisation removed, what the file says of it.
  TensorType type(const std::string& value) const;
  /// Whether two values have as many axes; true, too, where that is not known.
  bool sameRank(const std::string& a, const std::string& b) const;

 private:
  const onnxlib::FileModel& m_file;
  const Model& m_model;
  FileValues m_values;
  std::unordered_map<std::string_view, const onnxlib::FileTensor*> m_weights;
  std::unordered_map<std::string_view, const onnxlib::FileType*> m_declared;  ///< of inputs, outputs and value_info
};

}  // namespace fusescope
