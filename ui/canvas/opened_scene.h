#pragma once

#include <QSet>
#include <optional>

#include "ui/canvas/canvas_builder.h"

namespace fusescope {

/// A scene that was laid out, with some of its fused nodes opened: what is in them is laid out, room is made for it
/// (CanvasRoom), all else is kept. It is the same whatever was open before. None if more would change than that: a
/// value gets so many readers that it is drawn as stubs, or a fused node holds further containers. `built` is as before
/// when this returns. `handles`: of fused nodes that hold no bodies; those that are not drawn are passed over.
Result<std::optional<CanvasScene>> openedScene(BuiltCanvas& built, const QSet<QString>& handles,
                                               const LayoutOptions& options);

}  // namespace fusescope
