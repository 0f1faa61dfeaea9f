#include <QApplication>
#include <QEvent>
#include <QFile>
#include <QFileDialog>
#include <QHeaderView>
#include <QPainter>
#include <QPalette>
#include <QPixmap>
#include <QStyle>
#include <QStyleFactory>
#include <QSvgRenderer>
#include <QTreeView>
#include <QWidget>

#include "ui/theme/theme.h"

// Resources of a static library are linked only if their initialisation is called by name. Qt requires that this is
// outside of any namespace.
static void loadResources() {
  Q_INIT_RESOURCE(fusescope);
}

namespace fusescope {
namespace {

/// A colour of the style sheet. The sheet names it by a role of the palette, so that one sheet serves all themes.
/// Additional colours use roles with which nothing is drawn here.
struct SheetColor {
  const char* word;  ///< the word in kStyleSheet
  QPalette::ColorRole role;
  const char* name;  ///< the name of the role in a style sheet
  QColor (*of)(const Theme& theme);
};
constexpr SheetColor kSheetColors[] = {
    {"@selection", QPalette::Shadow, "shadow", selectionColor},
    {"@alternate", QPalette::AlternateBase, "alternate-base",
     [](const Theme& theme) { return mixed(theme.base, theme.window, 0.5); }},
    {"@disabled", QPalette::BrightText, "bright-text", [](const Theme& theme) { return theme.disabledText; }},
    {"@onAccent", QPalette::HighlightedText, "highlighted-text", [](const Theme& theme) { return theme.onAccent; }},
    {"@pressed", QPalette::Dark, "dark", [](const Theme& theme) { return mixed(theme.raised, theme.text, 0.16); }},
    {"@handle", QPalette::Light, "light", [](const Theme& theme) { return mixed(theme.border, theme.dimText, 0.55); }},
    {"@accent", QPalette::Highlight, "highlight", [](const Theme& theme) { return theme.accent; }},
    {"@raised", QPalette::Button, "button", [](const Theme& theme) { return theme.raised; }},
    {"@border", QPalette::Mid, "mid", [](const Theme& theme) { return theme.border; }},
    {"@window", QPalette::Window, "window", [](const Theme& theme) { return theme.window; }},
    {"@hover", QPalette::Midlight, "midlight",
     [](const Theme& theme) { return mixed(theme.raised, theme.text, 0.08); }},
    {"@text", QPalette::Text, "text", [](const Theme& theme) { return theme.text; }},
    {"@base", QPalette::Base, "base", [](const Theme& theme) { return theme.base; }},
    {"@dim", QPalette::LinkVisited, "link-visited", [](const Theme& theme) { return theme.dimText; }},
    {"@link", QPalette::Link, "link", [](const Theme& theme) { return theme.link; }},
};

QPalette paletteOf(const Theme& theme) {
  QPalette palette;
  for (const SheetColor& color : kSheetColors) palette.setColor(color.role, color.of(theme));
  palette.setColor(QPalette::WindowText, theme.text);
  palette.setColor(QPalette::ButtonText, theme.text);
  palette.setColor(QPalette::PlaceholderText, theme.dimText);
  palette.setColor(QPalette::ToolTipBase, theme.raised);
  palette.setColor(QPalette::ToolTipText, theme.text);
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, theme.disabledText);
  }
  return palette;
}

const char* const kStyleSheet = R"(
QToolTip { color: @text; background: @raised; border: 1px solid @border; padding: 6px; }
QToolBar { background: @window; border: none; border-bottom: 1px solid @border; spacing: 3px; padding: 1px 6px; }
QToolBar::separator { background: @border; width: 1px; margin: 5px 5px; }
QToolButton { border: 1px solid transparent; border-radius: 5px; padding: 4px 6px; color: @text; }
QToolBar QToolButton { padding: 2px 6px; }
QToolButton:hover { background: @hover; }
QToolButton:pressed, QToolButton:checked { background: @pressed; border-color: @border; }
QToolButton:focus { border-color: @accent; }
QToolButton:disabled { color: @disabled; }
QMenuBar { background: @window; border-bottom: 1px solid @border; padding: 1px 4px; }
QMenuBar QLineEdit { padding: 2px 7px; }
QMenuBar::item { padding: 3px 9px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: @hover; }
QMenu { background: @raised; border: 1px solid @border; padding: 5px; }
QMenu::item { padding: 6px 26px 6px 22px; border-radius: 4px; }
QMenu::item:selected { background: @accent; color: @onAccent; }
QMenu::item:disabled { color: @disabled; background: transparent; }
QMenu::separator { height: 1px; background: @border; margin: 5px 8px; }
QComboBox::drop-down { border: none; width: 18px; }
QComboBox::down-arrow { image: url(:/fusescope/icons/chevron.svg); width: 12px; height: 12px; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: @dim; padding: 6px 9px; border: none; border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @text; border-bottom: 2px solid @text; }
QTabBar::scroller { width: 44px; }
QTabBar QToolButton { background: @raised; border: 1px solid @border; border-radius: 4px; padding: 0; }
QTabBar QToolBar QToolButton { padding: 2px 6px; }
QToolButton:hover { background: @hover; }
QTabBar QToolButton::left-arrow { image: url(:/fusescope/icons/chevron-left.svg); width: 12px; height: 12px; }
QTabBar QToolButton::right-arrow { image: url(:/fusescope/icons/chevron-right.svg); width: 12px; height: 12px; }
QTabBar QToolButton:disabled { background: @window; }
QTabWidget::pane { border: none; border-top: 1px solid @border; }
QHeaderView { background: @window; }
QHeaderView::section { background: @window; color: @dim; border: none; border-right: 1px solid @border;
  border-bottom: 1px solid @border; padding: 5px 8px; font-weight: 600; }
QTableView, QTreeView, QListView, QPlainTextEdit, QTextEdit, QTextBrowser { background: @base; border: none;
  selection-background-color: @selection; selection-color: @text; alternate-background-color: @alternate; outline: none; }
QTableView::item, QTreeView::item, QListView::item { padding: 3px 5px; border: none; min-height: 20px; }
QTableView::item:selected, QTreeView::item:selected, QListView::item:selected { background: @selection; color: @text; }
QTableView::item:focus, QTreeView::item:focus, QListView::item:focus { border: 1px solid @accent; }
QTableCornerButton::section { background: @window; border: none; }
QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox { background: @base; border: 1px solid @border; border-radius: 5px;
  padding: 4px 7px; selection-background-color: @accent; selection-color: @onAccent; }
QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus { border-color: @accent; }
QSpinBox, QDoubleSpinBox { padding-right: 56px; min-height: 20px; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button { width: 26px;
  height: 26px; border-left: 1px solid @border; subcontrol-origin: border; subcontrol-position: center right; }
QSpinBox::down-button, QDoubleSpinBox::down-button { right: 27px; }
QSpinBox::up-button:hover, QSpinBox::down-button:hover, QDoubleSpinBox::up-button:hover,
QDoubleSpinBox::down-button:hover { background: @hover; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url(:/fusescope/icons/chevron-up.svg); width: 12px; height: 12px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url(:/fusescope/icons/chevron.svg); width: 12px;
  height: 12px; }
QPushButton { background: @raised; border: 1px solid @border; border-radius: 5px; padding: 5px 14px; }
QPushButton:hover { background: @hover; }
QPushButton:pressed { background: @pressed; }
QPushButton:focus { border-color: @accent; }
QPushButton[link="true"] { background: transparent; border: 1px solid transparent; color: @link; text-align: left;
  padding: 4px 6px; }
QPushButton#factLine { padding: 0px 8px; }
QPushButton[link="true"]:hover { text-decoration: underline; }
QPushButton[link="true"]:focus { border-color: @accent; }
QPushButton:default { background: @text; color: @base; border-color: @text; }
QPushButton:default:hover { background: @dim; }
QPushButton:default:focus { border: 2px solid @accent; }
QCheckBox { spacing: 7px; min-height: 24px; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid @dim; border-radius: 3px; background: @base; }
QCheckBox::indicator:checked { image: url(:/fusescope/icons/tick.svg); }
QCheckBox::indicator:disabled { border-color: @border; }
QCheckBox::indicator:focus { border-color: @accent; }
QPlainTextEdit[field="true"] { border: 1px solid @border; border-radius: 5px; padding: 1px 3px; }
QPlainTextEdit[field="true"]:focus { border-color: @accent; }
QPushButton:disabled { color: @disabled; background: @window; border-color: @border; }
QPushButton[link="true"]:disabled { color: @dim; background: transparent; border-color: transparent; }
QStatusBar { background: @window; border-top: 1px solid @border; color: @dim; }
QStatusBar::item { border: none; }
QProgressBar { background: @base; border: 1px solid @border; border-radius: 4px; text-align: center; min-height: 8px; }
QProgressBar::chunk { background: @dim; border-radius: 3px; }
QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: @handle; border-radius: 4px; margin: 2px; min-height: 28px; min-width: 28px; }
QScrollBar::handle:hover { background: @dim; }
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page { background: none; border: none;
  width: 0; height: 0; }
QSplitter::handle { background: @border; }
QSplitter::handle:enabled:hover { background: @handle; }
QGroupBox { border: 1px solid @border; border-radius: 6px; margin-top: 14px; padding: 8px; font-weight: 600; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QGroupBox::title { subcontrol-origin: margin; left: 10px; padding: 0 4px; color: @dim; }
)";

QString styleSheet() {
  QString sheet = QLatin1String(kStyleSheet);
  for (const SheetColor& color : kSheetColors)
    sheet.replace(QLatin1String(color.word), QStringLiteral("palette(%1)").arg(QLatin1String(color.name)));
  return sheet;
}

/// Shows sizes and dates in full, and gives the remaining width to names.
void giveRoom(QFileDialog& dialog) {
  auto* files = dialog.findChild<QTreeView*>(QStringLiteral("treeView"));
  if (files == nullptr) return;
  for (int column = 0; column < files->header()->count(); ++column)
    files->header()->setSectionResizeMode(column, column == 0 ? QHeaderView::Stretch : QHeaderView::ResizeToContents);
  dialog.resize(dialog.size().expandedTo(QSize(820, 520)));
}

/// Handles widgets when they are shown. Widgets that unpolish() has left unpolished are polished again, because Qt
/// polishes a widget only when it is shown for the first time. Parents come before their children: a child that is
/// polished first would take inherited colours for its own and keep them. File dialogs get more room.
class ShownWidgets : public QObject {
 public:
  using QObject::QObject;
  bool eventFilter(QObject* receiver, QEvent* event) override {
    if (event->type() != QEvent::Show || !receiver->isWidgetType()) return false;
    polish(static_cast<QWidget&>(*receiver));
    if (auto* dialog = qobject_cast<QFileDialog*>(receiver)) giveRoom(*dialog);
    return false;
  }

 private:
  static void polish(QWidget& widget) {
    if (widget.testAttribute(Qt::WA_WState_Polished)) return;
    if (!widget.isWindow() && widget.parentWidget() != nullptr) polish(*widget.parentWidget());
    widget.style()->polish(&widget);
    widget.setAttribute(Qt::WA_WState_Polished);
  }
};

/// Unpolishes `widget` and the widgets inside it that Qt has polished. Visible ones are appended to `onScreen`, parents
/// before their children. Hidden ones remain unpolished until ShownWidgets handles them.
void unpolish(QWidget& widget, QWidgetList& onScreen) {
  if (widget.testAttribute(Qt::WA_WState_Polished)) {
    widget.style()->unpolish(&widget);
    if (widget.isVisible()) {
      onScreen << &widget;
    } else {
      widget.setAttribute(Qt::WA_WState_Polished, false);
    }
  }
  for (QWidget* child : widget.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly))
    unpolish(*child, onScreen);
}

}  // namespace

QColor selectionColor(const Theme& theme) {
  return mixed(theme.base, theme.accent, theme.kind == ThemeKind::Dark ? 0.22 : 0.12);
}

// The style sheet is never set again, because Qt would polish each widget once for each of its ancestors.
void applyTheme(QApplication& application, const Theme& theme) {
  loadResources();
  const bool first = application.styleSheet().isEmpty();
  QWidgetList onScreen;
  if (first) {
    application.setStyle(QStyleFactory::create("Fusion"));
    application.setFont(uiFont());
    application.installEventFilter(new ShownWidgets(&application));
  } else {
    for (QWidget* widget : QApplication::allWidgets())
      if (widget->parentWidget() == nullptr) unpolish(*widget, onScreen);
  }
  application.setPalette(paletteOf(theme));
  if (first) application.setStyleSheet(styleSheet());
  for (QWidget* widget : onScreen) {
    widget->style()->polish(widget);
    widget->update();
  }
}

QIcon themedIcon(const QString& name, const Theme& theme) {
  loadResources();
  QFile file(":/fusescope/icons/" + name + ".svg");
  if (!file.open(QIODevice::ReadOnly)) return {};
  const QByteArray drawing = file.readAll();
  QIcon icon;
  for (const auto& [mode, color] : {std::pair{QIcon::Normal, theme.text}, {QIcon::Disabled, theme.disabledText}}) {
    QByteArray colored = drawing;
    colored.replace("currentColor", color.name().toLatin1());
    QSvgRenderer renderer(colored);
    for (const int size : {16, 20, 24, 32, 48, 64}) {
      QPixmap pixmap(size, size);
      pixmap.fill(Qt::transparent);
      QPainter painter(&pixmap);
      renderer.render(&painter);
      painter.end();
      icon.addPixmap(pixmap, mode);
    }
  }
  return icon;
}

}  // namespace fusescope
