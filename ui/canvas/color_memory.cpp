#include "ui/canvas/color_mode.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace memory_color {
namespace {

std::optional<double> amountOf(const CanvasItem& item, const ShownTime&) {
  return item.facts.results ? std::optional(static_cast<double>(*item.facts.results)) : std::nullopt;
}

BoxColor colorOf(const ColorSource& source) {
  if (isBorderOfNetwork(source.item)) return borderOfNetworkColor(source.theme);
  BoxColor color = scaleColor(amountOf(source.item, source.time), source.largest, source.theme,
                              [](double bytes) { return bytesText(static_cast<std::int64_t>(bytes)); });
  if (source.item.facts.results) color.badge = bytesText(source.item.facts.results);
  return color;
}

}  // namespace
}  // namespace memory_color

// This is not the arena that they take: that depends on which values are alive at the same time, and is unknown for a
// single kernel.
extern const ColorMode kMemoryColors{
    "memory",
    "Memory of results",
    LegendOf::Colors,
    memory_color::colorOf,
    memory_color::amountOf,
    "what a kernel writes to memory, according to the plan; not its place in an engine's arena"};

}  // namespace fusescope
