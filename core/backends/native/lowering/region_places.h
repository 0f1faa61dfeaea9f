#pragma once

#include "backends/native/lowering/region_facts.h"
#include "backends/native/operand_view.h"

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

  // The following functions read a value. They use the reader that was set last (setReader()).
  /// Returns the value as nodes read it: f32, rounded as the contract requires.
  Result<Ref> ref(ValueId value);
  /// Returns the value like ref(), but a narrow float in memory may stay a narrow float.
  Result<Ref> seen(ValueId value);
  /// Returns the value as it was made, or as it is in memory.
  Result<Ref> asStored(ValueId value);
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

  // The following functions define a value.
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

  // The following functions return a tensor in another layout.
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
  /// Returns whether the value is a constant for which no view or copy has been defined yet, and floats are converted.
  bool isUntouchedConstant(ValueId value) const;
  Result<Ref> narrowConstant(ValueId value, DataType type);
  Result<Ref> widened(const Ref& ref);
  Result<Ref> rounded(const Ref& ref, DataType type);
  Status reorder(const Ref& from, const Ref& to);  ///< converts between formats; a plain tensor must be row-major
  /// Returns the output of the fused node in whose buffer `value` can be made, if the layout `ref` permits it.
  std::optional<ValueId> outputFor(ValueId value, const Ref& ref) const;
  Status finishOutput(std::size_t index);

  ProgramBuilder m_program;
  std::map<ValueId, Ref> m_refs;
  std::map<ValueId, View> m_views;  ///< values that are views; they are added to m_refs when a Ref is requested
  std::map<ValueId, ViewOrigin> m_origins;
  std::map<std::pair<ValueId, DataType>, Ref> m_constantRefs, m_roundedRefs;  ///< by the type to which they are rounded
  std::map<std::pair<ValueId, DataType>, Ref> m_narrowConstants;
  std::map<ValueId, Ref> m_wideRefs;        ///< widened copies of narrow floats in memory
  std::map<BufferIndex, Ref> m_wholes;      ///< for each buffer of narrow floats, all of it
  std::map<BufferIndex, Ref> m_wideWholes;  ///< the same buffers, widened to f32
  std::set<BufferIndex> m_claimed;  ///< buffers of outputs that contain another value before the output is written
};

}  // namespace fusescope::native
