#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "engine/steps/lowering_request.h"

namespace fusescope {

class Graph;

/// The buffers of a program while it is lowered: each value in the forms (type, format, device) in which it is made or
/// read. Conversions and copies between forms are added as steps, once for each form.
class ValueForms {
 public:
  /// Means that an output has no buffer yet.
  static constexpr std::size_t kNone = SIZE_MAX;

  /// All references must outlive this. The outputs of `program` must be listed before the first buffer is added.
  ValueForms(const LoweringRequest& request, TacticChooser& chooser, Program& program);

  std::size_t addBuffer(ValueId value, TensorDesc desc, std::size_t device = kHost);
  std::size_t addBox(ValueId value, DataType type);
  /// Returns the buffer in which the value is made (its home form).
  std::optional<std::size_t> home(ValueId value) const;
  /// Returns the device of the home form, or the host if there is none yet.
  std::size_t homeDevice(ValueId value) const;
  /// Returns the buffer with `value` in this form. If there is none yet, adds a conversion from its home form.
  Result<std::size_t> form(ValueId value, DataType type, const MemoryFormat& format, std::size_t device = kHost);
  /// Adds a conversion step. `fused` is a view that must be copied because it is handed out, and null in other cases.
  Status addConversion(std::size_t from, std::size_t to, const FusedNode* fused);
  void claimOutputs(std::size_t buffer);
  /// Returns the index of a backend's device in the program.
  std::size_t deviceOf(const Backend& backend);
  bool isReturned(ValueId value) const;
  /// Returns whether the buffer is a part of another one.
  bool isPart(std::size_t buffer) const;

 private:
  /// Returns a form of the value on `device`, and adds a copy from another device if needed.
  Result<std::size_t> formFrom(std::size_t home, DataType type, const MemoryFormat& format, std::size_t device);
  std::size_t findForm(ValueId value, const std::function<bool(const Buffer&)>& isWanted) const;
  std::size_t addCopy(std::size_t from, std::size_t device);
  /// Returns the backend that converts tensors on a device.
  const Backend& converter(std::size_t device) const;

  const LoweringRequest& m_request;
  const Plan& m_plan;
  const Graph& m_graph;
  TacticChooser& m_chooser;
  Program& m_program;
  std::map<ValueId, std::vector<std::size_t>> m_forms;  ///< the first is the home form
};

}  // namespace fusescope
