#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/lowering/region_places.h"
#include "backends/native/steps/convert_step.h"

// Reads values where they are in memory, including values that are views of other values.
namespace fusescope::native {

bool RegionPlaces::isUntouchedConstant(ValueId value) const {
  return !keepsFloats() && isConstant(value) && !isDefined(value);
}

Ref RegionPlaces::packedRef(const Dims& dims, Packing packing) {
  return {.buffer = m_program.addPacked(std::move(packing)),
          .dtype = DataType::F32,
          .dims = dims,
          .strides = rowMajorStrides(dims)};
}

Result<Ref> RegionPlaces::asStored(ValueId value) {
  if (const auto it = m_refs.find(value); it != m_refs.end()) return it->second;
  if (const auto it = m_views.find(value); it != m_views.end()) {
    if (auto seen = it->second.ref()) return m_refs[value] = std::move(*seen);
    const Ref from = it->second.split(), whole = allocate(value, MemoryFormat(), from.dtype);
    Ref to = whole;
    to.dims = from.dims;
    to.strides = rowMajorStrides(to.dims);
    copyStrided(from, to);
    return m_refs[value] = whole;
  }
  if (!isConstant(value)) {
    return Diagnostic{.message = "a constant has no data",
                      .where = {.node = fused().name, .value = graph().has(value) ? graph().value(value).name : ""},
                      .help = "The model was saved without its weights; it can be planned, not built."};
  }
  const auto key = std::pair(value, readType(value));
  if (const auto it = m_constantRefs.find(key); it != m_constantRefs.end()) return it->second;
  const DataType type = typeOf(value);
  const Dims dims = dimsOf(value);
  Ref ref{.dtype = type, .dims = dims, .strides = rowMajorStrides(dims)};
  ref.buffer = m_program.addPacked(plainPacking(weight(value), type));
  m_constantRefs[key] = ref;
  return ref;
}

Result<Ref> RegionPlaces::narrowConstant(ValueId value, DataType type) {
  Ref& at = m_narrowConstants[{value, type}];
  if (at.buffer == kNoBuffer) {
    at = {.dtype = type, .dims = dimsOf(value), .strides = rowMajorStrides(dimsOf(value))};
    at.buffer = m_program.addPacked(plainPacking(rawWeight(value), type));
  }
  return at;
}

Result<Ref> RegionPlaces::seen(ValueId value) {
  if (isUntouchedConstant(value) && narrowTypeOf(value) != DataType::Undefined)
    return narrowConstant(value, narrowTypeOf(value));
  Ref at = TRY(asStored(value));
  if (keepsFloats() || !m_refs.contains(value)) return at;
  for (const DataType type : {rounding().made(value), readType(value)}) {
    if (type == DataType::Undefined || at.dtype == type) continue;
    Ref& kept = m_roundedRefs[{value, type}];
    if (kept.buffer == kNoBuffer) kept = TRY(rounded(isNarrow(at.dtype) ? TRY(widened(at)) : at, type));
    at = kept;
  }
  return at;
}

DataType RegionPlaces::seenType(ValueId value) const {
  if (isUntouchedConstant(value)) {
    const DataType narrow = narrowTypeOf(value);
    return narrow != DataType::Undefined ? narrow : typeOf(value);
  }
  const auto at = m_refs.find(value);
  const auto view = m_views.find(value);
  const DataType held = at != m_refs.end()      ? at->second.dtype
                        : view != m_views.end() ? view->second.type()
                                                : DataType::F32;
  for (const DataType type : {rounding().made(value), readType(value)})
    if (type != DataType::Undefined && type != held) return DataType::F32;
  return held;
}

Result<Ref> RegionPlaces::ref(ValueId value) {
  if (isUntouchedConstant(value)) return asStored(value);
  const Ref at = TRY(seen(value));
  if (keepsFloats() || !isNarrow(at.dtype)) return at;
  Ref& kept = m_wideRefs[value];
  if (kept.buffer == kNoBuffer) kept = TRY(widened(at));
  return kept;
}

Result<std::optional<Ref>> RegionPlaces::narrowed(ValueId value, DataType type) {
  const Ref at = TRY(seen(value));
  if (at.dtype == type) return std::optional(at);
  if (at.dtype != DataType::F32 || (rounding().made(value) != type && readType(value) != type))
    return std::optional<Ref>();
  const Ref narrow = allocateScratch(type, at.dims);
  TRY(convertType(at, narrow));
  return std::optional(narrow);
}

Result<View> RegionPlaces::seenView(ValueId value) {
  const auto it = m_views.find(value);
  return it != m_views.end() && !isRounded(value) ? it->second : View(TRY(strided(TRY(seen(value)))));
}

Result<View> RegionPlaces::view(ValueId value) {
  const auto it = m_views.find(value);
  const bool isThere = it != m_views.end() && !isRounded(value) && !isNarrow(it->second.type());
  return isThere ? it->second : View(TRY(strided(TRY(ref(value)))));
}

std::optional<ViewOrigin> RegionPlaces::origin(ValueId value) const {
  if (const auto it = m_origins.find(value); it != m_origins.end())
    return isRounded(value) ? std::nullopt : std::optional(it->second);
  const auto constant = m_constantRefs.find({value, readType(value)});
  if (constant == m_constantRefs.end()) return std::nullopt;
  return ViewOrigin{.operand = constant->second, .whole = {.constant = constant->second.dims}};
}

Status RegionPlaces::defineSame(ValueId value, ValueId source) {
  if (const auto it = m_views.find(source); it != m_views.end() && !isRounded(source)) {
    m_views.emplace(value, it->second);
  } else {
    define(value, TRY(seen(source)));
  }
  if (auto from = origin(source)) m_origins.insert_or_assign(value, std::move(*from));
  return Done{};
}

Status RegionPlaces::defineLook(ValueId value, ValueId source, const ViewOrigin::Look& look) {
  View looked = TRY(seenView(source));
  std::optional<ViewOrigin> from = origin(source);
  if (!look(looked, extents())) {
    looked = View(TRY(plain(TRY(seen(source)))));
    from.reset();
    if (!look(looked, extents()))
      return Diagnostic{
          .message = "cannot reinterpret the extents " + toText(Dims(looked.dims())) + " as " + toText(dimsOf(value)),
          .where = {.node = fused().name, .value = graph().value(value).name}};
  }
  m_views.insert_or_assign(value, std::move(looked));
  if (!from) return Done{};
  from->looks.push_back(look);
  m_origins.insert_or_assign(value, std::move(*from));
  return Done{};
}

}  // namespace fusescope::native
