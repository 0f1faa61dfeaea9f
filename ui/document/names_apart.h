#pragma once

#include <QFontMetrics>
#include <QString>
#include <string_view>
#include <vector>

namespace fusescope {

// These shorten similar names in a little room.

/// Returns for each of `names` the most similar other one: among those with the longest common beginning or end, the
/// one that has most in common with it. Empty if there is none. It takes as long as sorting.
std::vector<std::string_view> twinsOf(const std::vector<std::string_view>& names);
/// Shortens `name` to `width` pixels. It omits the middle, or, if this would remove what distinguishes it from `twin`,
/// the parts on both sides of that, provided that it needs at most half of the room.
QString elidedApart(const QString& name, const QString& twin, const QFontMetrics& font, int width);

}  // namespace fusescope
