#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "interchange/network_part.h"
#include "ir/graph.h"
#include "ir/model.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// The main graph of a file for substitutions; nodes are identified by their index in the file. `file`, and `model`,
/// which is the same network after preparation, must outlive it.
class FileMatcher {
 public:
  FileMatcher(const onnxlib::FileModel& file, const Model& model);

  const onnxlib::FileModel& file() const { return m_file; }
  const Model& model() const { return m_model; }
  const FileValues& values() const { return m_values; }
  const onnxlib::FileNode& node(std::size_t place) const { return m_file.graph.nodes[place]; }
  /// Returns the name of the node in the network, which is unique.
  const std::string& name(std::size_t place) const { return m_model.origins[place].name; }
  std::size_t nodes() const { return m_file.graph.nodes.size(); }
  std::int64_t opset() const;

  /// Returns whether the node is this operator of ONNX's own domain.
  bool is(std::size_t place, std::string_view op) const;
  /// Returns the node that makes `value` if it is this operator.
  std::optional<std::size_t> maker(const std::string& value, std::string_view op) const;
  /// Returns the only reader of `value`, which must not be an output of the network; nothing if there are no or several
  /// readers.
  std::optional<std::size_t> onlyReader(const std::string& value) const;
  /// Returns the other operand of a node with two operands, one of which is `value`; empty for other nodes.
  std::string otherOperand(std::size_t place, const std::string& value) const;
  const std::string& result(std::size_t place) const { return node(place).outputs.front(); }

  /// Returns the constant `value`: a weight with data, or the result of a Constant node.
  std::optional<Tensor> constant(const std::string& value) const;
  std::optional<double> number(const std::string& value) const;  ///< the number in a constant of one element
  std::optional<std::vector<std::int64_t>> integers(const std::string& value) const;
  bool isNumber(const std::string& value, double number) const;  ///< compares to one part in a thousand, because narrow
                                                                 ///< floats round

  std::int64_t integer(std::size_t place, std::string_view attribute, std::int64_t otherwise) const;
  float real(std::size_t place, std::string_view attribute, float otherwise) const;
  std::vector<std::int64_t> list(std::size_t place, std::string_view attribute) const;
  std::string text(std::size_t place, std::string_view attribute, std::string_view otherwise) const;

  /// Returns whether only nodes of `places` read the results of `places`, except for `last`, and none of these results
  /// is an output.
  bool isClosed(const std::set<std::size_t>& places, const std::string& last) const;
  /// Returns the type of a value as far as it is known; for a value that normalisation removed, the type in the file.
  TensorType type(const std::string& value) const;
  /// Returns whether two values have the same number of axes; also true if that is unknown.
  bool sameRank(const std::string& a, const std::string& b) const;

 private:
  const onnxlib::FileModel& m_file;
  const Model& m_model;
  FileValues m_values;
  std::unordered_map<std::string_view, const onnxlib::FileTensor*> m_weights;
  std::unordered_map<std::string_view, const onnxlib::FileType*> m_declared;  ///< of inputs, outputs and value_info
};

}  // namespace fusescope
