#include "backends/native/lowering.h"
#include "backends/native/narrow_floats.h"

// Values that are other looks at what lies in memory, and how those are worked out for other extents.
namespace fusescope::native {

bool Lowering::isRounded(ValueId value) const {
  return m_kept == DataType::Undefined &&
         (m_rounding.made(value) != DataType::Undefined || readType(value) != DataType::Undefined);
}

Result<View> Lowering::seenView(ValueId value) {
  const auto it = m_views.find(value);
  return it != m_views.end() && !isRounded(value) ? it->second : View(TRY(strided(TRY(seen(value)))));
}

Result<View> Lowering::view(ValueId value) {
  const auto it = m_views.find(value);
  const bool isThere = it != m_views.end() && !isRounded(value) && !isNarrow(it->second.type());
  return isThere ? it->second : View(TRY(strided(TRY(ref(value)))));
}

std::optional<ViewOrigin> Lowering::origin(ValueId value) const {
  if (const auto it = m_origins.find(value); it != m_origins.end())
    return isRounded(value) ? std::nullopt : std::optional(it->second);
  const auto constant = m_constantRefs.find({value, readType(value)});
  if (constant == m_constantRefs.end()) return std::nullopt;
  return ViewOrigin{.operand = constant->second, .whole = {.constant = constant->second.dims}};
}

ExtentsOf Lowering::extentsOf(ValueId value) const {
  const auto it = m_places.find(value);
  return it != m_places.end() ? it->second : ExtentsOf{.constant = dimsOf(value)};
}

Status Lowering::defineSame(ValueId value, ValueId source) {
  if (const auto it = m_views.find(source); it != m_views.end() && !isRounded(source)) {
    m_views.emplace(value, it->second);
  } else {
    define(value, TRY(seen(source)));
  }
  if (auto from = origin(source)) m_origins.insert_or_assign(value, std::move(*from));
  return Done{};
}

Status Lowering::defineLook(ValueId value, ValueId source, const ViewOrigin::Look& look) {
  View looked = TRY(seenView(source));
  std::optional<ViewOrigin> from = origin(source);
  if (!look(looked, m_extents)) {
    looked = View(TRY(plain(TRY(seen(source)))));
    from.reset();
    if (!look(looked, m_extents))
      return Diagnostic{.message = "cannot see " + toText(Dims(looked.dims())) + " as " + toText(dimsOf(value)),
                        .where = {.node = m_fused.name, .value = m_graph.value(value).name}};
  }
  m_views.insert_or_assign(value, std::move(looked));
  if (!from) return Done{};
  from->looks.push_back(look);
  m_origins.insert_or_assign(value, std::move(*from));
  return Done{};
}

}  // namespace fusescope::native
