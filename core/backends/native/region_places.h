#pragma once

#include "backends/native/region_facts.h"
#include "backends/native/view.h"

namespace fusescope::native {

/// Where the values of a fused node lie while its program runs, and how they come to another place, type or format. A
/// value is defined by the emitter of the node that makes it: as a tensor of its own, or as another look at a tensor.
/// What reads a value asks for it in the way that it needs; steps that copy, widen or round it are added as they become
/// necessary, once for each value and way. Errors come from constants without data and from oneDNN.
class RegionPlaces : public RegionFacts {
 public:
  RegionPlaces(const KernelRequest& request, LoweringOptions options);

  /// Takes steps, weights, tables and scratch memory.
  ProgramBuilder& program() { return m_program; }
  /// Defines the inputs of the fused node. It is called once, first.
  Status bindInputs();
  /// Brings every output of the fused node to its buffer. It is called once, last.
  Status finishOutputs();

  // Where a value is read. The reader that was set last (setReader()) counts.
  /// As nodes read it: f32, rounded where the contract says so.
  Result<Ref> ref(ValueId value);
  /// The same, but what lies in memory as a narrow float may still do so.
  Result<Ref> seen(ValueId value);
  /// As it was made, or found in memory.
  Result<Ref> held(ValueId value);
  /// The type that seen() gives of what is there already.
  DataType seenType(ValueId value) const;
  /// Returns `value` in the narrow float `type` if all its readers would read the same number from that type; otherwise
  /// nothing.
  Result<std::optional<Ref>> narrowed(ValueId value, DataType type);
  /// As ref() and seen(), where it lies, even if one Ref cannot say that.
  Result<View> view(ValueId value);
  Result<View> seenView(ValueId value);
  /// How a value comes of an operand of the fused node; nothing if it is calculated or copied inside.
  std::optional<ViewOrigin> origin(ValueId value) const;

  // Where a value is made.
  bool isDefined(ValueId value) const { return m_refs.contains(value) || m_views.contains(value); }
  void define(ValueId value, Ref ref) { m_refs[value] = std::move(ref); }
  /// `value` is `source` under another name.
  Status defineSame(ValueId value, ValueId source);
  /// `value` is another look at `source`, which is copied if it must be.
  Status defineLook(ValueId value, ValueId source, const ViewOrigin::Look& look);
  /// Where `value` is to be written: the output's buffer where that is possible, else scratch.
  Ref allocate(ValueId value, const MemoryFormat& format = {}) { return allocate(value, format, typeOf(value)); }
  Ref allocate(ValueId value, const MemoryFormat& format, DataType type);
  /// Defines `value` where it is to be written at storedType(). Where all that follows is a transposition that keeps
  /// the last axis, it is the transposition's place, seen through the strides.
  Result<View> allocateView(ValueId value);
  /// The type at which a kernel may write `value` at once: the narrow one that it is rounded to for all who read it, or
  /// that of the output that it is or is seen as, if nobody inside reads more of it; else typeOf().
  DataType storedType(ValueId value) const;
  Ref allocateScratch(DataType type, const Dims& dims, const MemoryFormat& format = {});
  /// A weight of f32, row-major, that `packing` makes.
  Ref packedRef(const Dims& dims, Packing packing);

  // Tensors at other places.
  /// The same tensor row-major and without gaps; copies if it must.
  Result<Ref> plain(const Ref& ref);
  /// The same tensor found by strides; copies only where strides cannot say its format.
  Result<Ref> strided(const Ref& ref);
  /// The same tensor in `format`; copies if it must.
  Result<Ref> inFormat(const Ref& ref, const MemoryFormat& format);
  void copyStrided(const Ref& from, const Ref& to);
  /// Copies between types. Formats stay, or become plain.
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
