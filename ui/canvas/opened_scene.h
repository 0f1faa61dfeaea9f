#pragma once

#include <QSet>
#include <optional>

#include "ui/canvas/canvas_builder.h"

namespace fusescope {

/// Opens some fused nodes of a scene that was laid out: their contents are laid out, room is made for them
/// (CanvasRoom), and everything else is kept. The result does not depend on what was open before. Returns nothing if
/// more would change, because a value would get so many readers that they are drawn as stubs, or because a fused node
/// contains further containers. `built` is unchanged when this returns. `handles` are those of fused nodes without
/// bodies; those that are not drawn are ignored.
Result<std::optional<CanvasScene>> openedScene(BuiltCanvas& built, const QSet<QString>& handles,
                                               const LayoutOptions& options);

}  // namespace fusescope
