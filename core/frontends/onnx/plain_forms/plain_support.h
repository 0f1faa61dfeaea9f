#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/onnx/adapters/adapt_support.h"

namespace fusescope::plain {

using adapting::attribute;
using adapting::FileAttribute;
using adapting::FileNode;
using adapting::Ints;
using adapting::Nodes;

/// ONNX's numbers of element types, as they occur in attributes.
constexpr std::int64_t kFloat = 1, kUInt8 = 2, kInt8 = 3, kInt64 = 7, kBool = 9;

/// The nodes that replace one node of the file. Values and nodes in between are named `<node>/<what>`; the node that
/// finish() adds keeps the name of the file's node.
class Form {
 public:
  Form(const FileNode& node, AdaptContext& context) : m_node(node), m_context(context), m_expansion(node, context) {}

  const FileNode& node() const { return m_node; }
  AdaptContext& context() { return m_context; }
  bool has(std::size_t slot) const { return adapting::hasInput(m_node, slot); }
  bool wants(std::size_t output) const { return adapting::hasOutput(m_node, output); }
  std::string in(std::size_t slot) const { return has(slot) ? m_node.inputs[slot] : std::string(); }
  std::int64_t intOf(std::string_view key, std::int64_t otherwise) const;
  float floatOf(std::string_view key, float otherwise) const;
  std::string textOf(std::string_view key, std::string otherwise) const;
  Ints intsOf(std::string_view key) const;  ///< empty if the attribute is absent
  /// Returns those of the node's attributes whose names are in `keys`.
  std::vector<FileAttribute> attributes(std::initializer_list<std::string_view> keys) const;

  const onnxlib::FileType* type(const std::string& value) const { return m_context.type(value); }
  const onnxlib::FileTensor* constant(const std::string& value) const { return m_context.constant(value); }
  std::optional<std::size_t> rank(const std::string& value) const;  ///< nothing if it is unknown
  Result<std::size_t> rankNeeded(const std::string& value) const;
  /// Returns an extent if it is known; a negative axis counts from the last one.
  std::optional<std::int64_t> extent(const std::string& value, std::int64_t axis) const;

  std::string add(const std::string& what, const std::string& op, std::vector<std::string> inputs,
                  std::vector<FileAttribute> attributes = {}) {
    return m_expansion.add(what, op, std::move(inputs), std::move(attributes));
  }
  /// Adds a node with one output for each of `parts`; an empty part is an output that is not used.
  std::vector<std::string> addMany(const std::string& what, const std::string& op, std::vector<std::string> inputs,
                                   const std::vector<std::string>& parts, std::vector<FileAttribute> attributes = {});
  /// Adds a node that writes output `output` of the file's node. It adds nothing if this output is not used.
  void give(std::size_t output, const std::string& what, const std::string& op, std::vector<std::string> inputs,
            std::vector<FileAttribute> attributes = {});
  /// Adds the node that keeps the name of the file's node. Without `outputs`, it writes the first output of the file's
  /// node.
  void finish(const std::string& op, std::vector<std::string> inputs, std::vector<FileAttribute> attributes = {},
              std::vector<std::string> outputs = {});
  std::string name(const std::string& what) { return m_expansion.value(what); }  ///< a value name that is not used yet

  std::string ints(const std::string& what, Ints values) { return m_expansion.ints(what, std::move(values)); }
  /// Adds `number` as a scalar of the type of `like`. `like` should be a value of the file, because the type of a value
  /// that was made here is not known yet, which would cost a CastLike.
  std::string numberLike(const std::string& what, float number, const std::string& like) {
    return m_expansion.numberLike(what, number, like);
  }
  std::string scalar(const std::string& what, std::int64_t value);  ///< without axes
  std::string tensor(const std::string& what, onnxlib::FileTensor tensor);
  /// Adds extent `axis` of `value` as a vector of one int64.
  std::string extentVector(const std::string& what, const std::string& value, std::int64_t axis);

  Diagnostic problem(std::string why, std::string help = "Export it again.") const {
    return adapting::cannotAdapt(m_node, std::move(why), std::move(help));
  }
  Nodes take() { return m_expansion.take(); }

 private:
  const FileNode& m_node;
  AdaptContext& m_context;
  adapting::Expansion m_expansion;
};

enum class Channels { ToSecond, ToLast };
/// Adds a node that moves the channels of `x`, which has `rank` axes, from the last axis to the second, or back.
std::string moveChannels(Form& form, const std::string& what, const std::string& x, std::size_t rank, Channels where);
Ints channelOrder(std::size_t rank, Channels where);

/// Finishes `form` with the activation of `x` that a fused operator calls `name`, or with none if `name` is empty.
/// `numbers` are the activation's parameters, in the order of ONNX's attributes. Input 0 has the type of `x`.
Status finishActivated(Form& form, const std::string& name, const std::string& x, const std::vector<float>& numbers);

}  // namespace fusescope::plain
