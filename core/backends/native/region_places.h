#pragma once

#include "backends/native/region_facts.h"
#include "backends/native/view.h"

namespace fusescope::native {

/// Where the values of a fused node are stored while its program runs, and how they get to another place, type or
/// format. A value is defined by the emitter of the node that makes it: as a separate tensor, or as a view of another
/// one. A reader requests a value in the way that it needs; steps that copy, widen or round it are added when they
/// become necessary, once for each value and way. Errors come from constants without data and from oneDNN.
class RegionPlaces : public RegionFacts {
 public:
  RegionPlaces(const KernelRequest& request, LoweringOptions options);

  /// Returns the builder that receives steps, weights, tables and scratch memory.
  ProgramBuilder& program() { return m_program; }
  /// Defines the inputs of the fused node. It must be called once, first.
  Status bindInputs();
  /// Writes every output of the fused node to its buffer. It must be called once, last.
  Status finishOutputs();

  // How a value is read. The functions use the reader that was set last (setReader()).
  /// Returns the value as nodes read it: f32, rounded as the contract requires.
  Result<Ref> ref(ValueId value);
  /// Returns the same, but a narrow float in memory may stay a narrow float.
  Result<Ref> seen(ValueId value);
  /// Returns the value as it was made, or as it is in memory.
  Result<Ref> held(ValueId value);
  /// Returns the type in which seen() returns the value as it is stored now.
  DataType seenType(ValueId value) const;
  /// Returns `value` in the narrow float `type` if all its readers would read the same number from that type; otherwise
  /// nothing.
  Result<std::optional<Ref>> narrowed(ValueId value, DataType type);
  /// Return the same as ref() and seen() without a copy, even if the layout cannot be expressed as one Ref.
  Result<View> view(ValueId value);
  Result<View> seenView(ValueId value);
  /// Returns how a value is derived from an operand of the fused node; nothing if it is calculated or copied inside.
  std::optional<ViewOrigin> origin(ValueId value) const;

  // How a value is made.
  bool isDefined(ValueId value) const { return m_refs.contains(value) || m_views.contains(value); }
  void define(ValueId value, Ref ref) { m_refs[value] = std::move(ref); }
  /// Defines `value` as another name for `source`.
  Status defineSame(ValueId value, ValueId source);
  /// Defines `value` as a view of `source`, which is copied if that is necessary.
  Status defineLook(ValueId value, ValueId source, const ViewOrigin::Look& look);
  /// Returns where `value` should be written: in the output's buffer if possible, otherwise in scratch.
  Ref allocate(ValueId value, const MemoryFormat& format = {}) { return allocate(value, format, typeOf(value)); }
  Ref allocate(ValueId value, const MemoryFormat& format, DataType type);
  /// Returns where `value` should be written in storedType(), and defines it there. If only a transposition that keeps
  /// the last axis follows, this is the place of the transposition's result, seen through its strides.
  Result<View> allocateView(ValueId value);
  /// Returns the type in which a kernel may write `value` directly: the narrow type to which all its readers round it,
  /// or the type of the output that it is or is viewed as, if no inner reader needs more precision; otherwise typeOf().
  DataType storedType(ValueId value) const;
  Ref allocateScratch(DataType type, const Dims& dims, const MemoryFormat& format = {});
  /// Returns a weight of f32, row-major, that `packing` makes.
  Ref packedRef(const Dims& dims, Packing packing);

  // Tensors in other layouts.
  /// Returns the same tensor row-major and without gaps; copies it if necessary.
  Result<Ref> plain(const Ref& ref);
  /// Returns the same tensor addressed by strides; copies it only if strides cannot express its format.
  Result<Ref> strided(const Ref& ref);
  /// Returns the same tensor in `format`; copies it if necessary.
  Result<Ref> inFormat(const Ref& ref, const MemoryFormat& format);
  void copyStrided(const Ref& from, const Ref& to);
  /// Copies between types. The format stays the same or becomes plain.
  Status convertType(const Ref& from, const Ref& to);

 private:
  /// A constant that no view or copy stands for yet, where floats are not kept as they are.
  bool isUntouchedConstant(ValueId value) const;
  Result<Ref> narrowConstant(ValueId value, DataType type);
  Result<Ref> widened(const Ref& ref);
  Result<Ref> rounded(const Ref& ref, DataType type);
  Status reorder(const Ref& from, const Ref& to);  ///< between formats; what is plain is row-major
  /// The output of the fused node in whose buffer `value` can be made, if it lies there as `ref` says.
  std::optional<ValueId> outputFor(ValueId value, const Ref& ref) const;
  Status finishOutput(std::size_t index);

  ProgramBuilder m_program;
  std::map<ValueId, Ref> m_refs;
  std::map<ValueId, View> m_views;  ///< of values that nodes only look at; in m_refs once somebody asks for one
  std::map<ValueId, ViewOrigin> m_origins;
  std::map<std::pair<ValueId, DataType>, Ref> m_constantRefs, m_roundedRefs;  ///< by what they are rounded to
  std::map<std::pair<ValueId, DataType>, Ref> m_narrowConstants;
  std::map<ValueId, Ref> m_wideRefs;        ///< of what lies in memory as a narrow float
  std::map<BufferIndex, Ref> m_wholes;      ///< all of a buffer of narrow floats
  std::map<BufferIndex, Ref> m_wideWholes;  ///< the same as f32
  std::set<BufferIndex> m_claimed;          ///< output buffers that hold a value before the output itself
};

}  // namespace fusescope::native
