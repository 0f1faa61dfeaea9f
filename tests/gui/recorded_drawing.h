#pragma once

#include <QSize>
#include <QStringList>
#include <functional>

class QPainter;

namespace fusescope::test {

/// What `paint` paints, a line for each thing that is drawn, in order: what it is, where in whole pixels, in which
/// colours. Of text: the words, their size and where they begin; of letters nothing.
QStringList recordedDrawing(const QSize& size, const std::function<void(QPainter&)>& paint);

/// Compares lines with those that are kept in tests/gui/pictures/NAME.txt: what is in words must be the same, numbers
/// may be one apart. Gives the first difference; empty: there is none. With FUSESCOPE_KEEP_PICTURES set in the
/// environment the lines are kept anew instead, for whoever changed the picture on purpose.
QString differenceFromKept(const QString& name, const QStringList& lines);

/// Lets the program draw text in the fonts of tests/gui/pictures, with which it has the same extents on every machine.
/// False where they do not take the place of others.
bool useBoxFonts();

}  // namespace fusescope::test
