#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "engine/lowering.h"

namespace fusescope {

/// The buffers of a program while it is lowered: each value in the forms (type, format, device) in which somebody makes
/// or reads it. Adds the conversions and copies that lead from one form to another, each once.
class ValueForms {
 public:
  /// No output has a buffer yet.
  static constexpr std::size_t kNone = SIZE_MAX;

  /// All references must outlive this. The outputs of `program` are listed before the first buffer is added.
  ValueForms(const LoweringRequest& request, TacticChooser& chooser, Program& program);

  std::size_t addBuffer(ValueId value, TensorDesc desc, std::size_t device = kHost);
  std::size_t addBox(ValueId value, DataType type);
  /// The first buffer of a value: as it was made.
  std::optional<std::size_t> home(ValueId value) const;
  /// The device of that; the host's, where there is none yet.
  std::size_t homeDevice(ValueId value) const;
  /// The buffer that holds `value` in this form, converting it from its home form if there is none yet.
  Result<std::size_t> form(ValueId value, DataType type, const MemoryFormat& format, std::size_t device = kHost);
  /// `fused`: a view that is made a copy, for it is handed out; null for others.
  Status addConversion(std::size_t from, std::size_t to, const FusedNode* fused);
  void claimOutputs(std::size_t buffer);
  /// The place of a backend's device among those of the program.
  std::size_t deviceOf(const Backend& backend);
  bool isHandedOut(ValueId value) const;
  /// Whether other bytes than its own lie around it.
  bool isPart(std::size_t buffer) const;

 private:
  /// A form of a value that another device has.
  Result<std::size_t> formFrom(std::size_t home, DataType type, const MemoryFormat& format, std::size_t device);
  std::size_t findForm(ValueId value, const std::function<bool(const Buffer&)>& isWanted) const;
  std::size_t addCopy(std::size_t from, std::size_t device);
  /// What converts on a device.
  const Backend& converter(std::size_t device) const;

  const LoweringRequest& m_request;
  const Plan& m_plan;
  const Graph& m_graph;
  TacticChooser& m_chooser;
  Program& m_program;
  std::map<ValueId, std::vector<std::size_t>> m_forms;  ///< the first is the home form
};

}  // namespace fusescope
