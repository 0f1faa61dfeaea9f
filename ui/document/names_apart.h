#pragma once

#include <QFontMetrics>
#include <QString>
#include <string_view>
#include <vector>

namespace fusescope {

// Names of which some are alike, where there is little room.

/// For each of `names` one that is much like it, but not the same: of those that begin or end most alike the one that
/// has most in common with it. Empty where there is none. Takes as long as sorting them.
std::vector<std::string_view> twinsOf(const std::vector<std::string_view>& names);
/// `name` in `width` pixels. What does not fit is left out of the middle, or on both sides of what tells it from
/// `twin`, where that would be lost otherwise and needs no more than half of the room.
QString elidedApart(const QString& name, const QString& twin, const QFontMetrics& font, int width);

}  // namespace fusescope
