#pragma once

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QtTest>

#include "ui/theme/theme.h"

namespace fusescope::test {

/// All of it is to be seen where it is.
inline bool inSight(const QWidget& widget) {
  const QWidget& window = *widget.window();
  const QRect place(widget.mapTo(&window, QPoint()), widget.size());
  return widget.isVisible() && window.rect().contains(place) && widget.visibleRegion().boundingRect() == widget.rect();
}

/// In sight, and a click on its middle reaches it.
inline bool inReach(const QWidget& widget) {
  const QWidget& window = *widget.window();
  const QWidget* there = window.childAt(widget.mapTo(&window, widget.rect().center()));
  return inSight(widget) && there != nullptr && (there == &widget || widget.isAncestorOf(there));
}

/// What people click, choose or write in that is on screen.
inline QList<QWidget*> fieldsOf(const QWidget& page) {
  QList<QWidget*> fields;
  for (QWidget* widget : page.findChildren<QWidget*>()) {
    const bool field = qobject_cast<QAbstractButton*>(widget) != nullptr ||
                       qobject_cast<QComboBox*>(widget) != nullptr || qobject_cast<QLineEdit*>(widget) != nullptr ||
                       qobject_cast<QAbstractSpinBox*>(widget) != nullptr ||
                       qobject_cast<QPlainTextEdit*>(widget) != nullptr;
    if (field && widget->isVisible()) fields << widget;
  }
  return fields;
}

/// Screens from the smallest to a large one, in both themes: columns "size" and "theme".
inline void addScreens() {
  QTest::addColumn<QSize>("size");
  QTest::addColumn<ThemeKind>("theme");
  for (const QSize& size : {QSize(1024, 700), QSize(1440, 900), QSize(2560, 1440)})
    for (const ThemeKind theme : {ThemeKind::Dark, ThemeKind::Light})
      QTest::addRow("%dx%d %s", size.width(), size.height(), theme == ThemeKind::Dark ? "dark" : "light")
          << size << theme;
}

}  // namespace fusescope::test

Q_DECLARE_METATYPE(fusescope::ThemeKind)
