#pragma once

#include <QMenu>

namespace fusescope {

/// Says at the top of a menu what it is about: `text`, its middle left out where it is long. Nothing to choose.
void addMenuTitle(QMenu& menu, const QString& text);
/// What addMenuTitle() wrote, in full; empty: the menu has no title.
QString menuTitle(const QMenu& menu);

}  // namespace fusescope
