#pragma once

#include <QMenu>

namespace fusescope {

/// Adds a title at the top of a menu: `text`, with its middle omitted if it is long. It cannot be chosen.
void addMenuTitle(QMenu& menu, const QString& text);
/// Returns the full text of addMenuTitle(); empty if the menu has no title.
QString menuTitle(const QMenu& menu);

}  // namespace fusescope
