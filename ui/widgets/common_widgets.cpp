#include "ui/widgets/common_widgets.h"

#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QTableView>
#include <QTimer>

#include "ui/document/names_apart.h"
#include "ui/document/qt_text.h"
#include "ui/models/roles.h"
#include "ui/widgets/wrap_layout.h"

namespace fusescope {

CellDelegate::CellDelegate(std::function<const Theme&()> theme, QSet<int> typeColumns, QObject* parent)
    : QStyledItemDelegate(parent), m_theme(std::move(theme)), m_typeColumns(std::move(typeColumns)) {}

static Tone toneOf(const QModelIndex& index) {
  return static_cast<Tone>(index.data(kToneRole).toInt());
}

static QColor toneColor(Tone tone, const Theme& theme) {
  switch (tone) {
    case Tone::Plain:
      break;
    case Tone::Dim:
      return theme.dimText;
    case Tone::Good:
      return theme.success;
    case Tone::Warning:
      return theme.warning;
    case Tone::Bad:
      return theme.error;
  }
  return theme.text;
}

void CellDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  // Names are shortened in the middle, because their ends distinguish them. Numbers are not shortened, because that
  // would make them other numbers.
  option->textElideMode = (option->displayAlignment & Qt::AlignRight) != 0 ? Qt::ElideNone : Qt::ElideMiddle;
  const QColor color = toneColor(toneOf(index), m_theme());
  option->palette.setColor(QPalette::Text, color);
  option->palette.setColor(QPalette::HighlightedText, color);
  if (index.data(kNewRole).toBool()) option->font.setBold(true);
  const QString twin = index.data(kTwinRole).toString();
  if (twin.isEmpty() || option->widget == nullptr) return;
  const QStyle& style = *option->widget->style();
  const QRect text = style.subElementRect(QStyle::SE_ItemViewItemText, option, option->widget);
  // The margin that Qt uses when it draws the text.
  const int margin = style.pixelMetric(QStyle::PM_FocusFrameHMargin, option, option->widget) + 1;
  option->text = elidedApart(option->text, twin, option->fontMetrics, text.width() - 2 * margin);
}

QString CellDelegate::shownText(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QStyleOptionViewItem filled = option;
  initStyleOption(&filled, index);
  return filled.text;
}

void CellDelegate::paintBadge(QPainter* painter, const QStyleOptionViewItem& option, const QString& text) const {
  const QString typeName = text.section(QLatin1Char(' '), 0, 0);
  const auto type = dataTypeFromName(typeName.toStdString());
  if (!type || text.isEmpty()) return;
  const Swatch swatch = precisionSwatch(*type, m_theme());
  QFont font = option.font;
  font.setBold(true);
  const QFontMetrics metrics(font);
  const int width = metrics.horizontalAdvance(swatch.label) + 12, height = metrics.height() + 2;
  QRect badge(option.rect.left() + 6, option.rect.center().y() - height / 2, width, height);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setPen(Qt::NoPen);
  painter->setBrush(swatch.color);
  painter->drawRoundedRect(badge, 4, 4);
  painter->setFont(font);
  painter->setPen(readableOn(swatch.color));
  painter->drawText(badge, Qt::AlignCenter, swatch.label);
  const QString rest = text.section(QLatin1Char(' '), 1);
  if (!rest.isEmpty()) {
    painter->setFont(option.font);
    painter->setPen(m_theme().dimText);
    painter->drawText(
        QRect(badge.right() + 6, option.rect.top(), option.rect.right() - badge.right() - 6, option.rect.height()),
        Qt::AlignVCenter | Qt::AlignLeft, rest);
  }
  painter->restore();
}

constexpr int kBarHeight = 3;

/// Returns the colour of a bar. A bar for something good or bad has the colour of its text; the colour of any other bar
/// says how large the value is.
static QColor barColor(const QModelIndex& index, const Theme& theme) {
  const Tone tone = toneOf(index);
  return tone == Tone::Good || tone == Tone::Bad ? toneColor(tone, theme)
                                                 : heatColor(index.data(kBarRole).toDouble(), theme);
}

void CellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const QVariant bar = index.data(kBarRole);
  if (m_typeColumns.contains(index.column())) {
    QStyleOptionViewItem plain = option;
    initStyleOption(&plain, index);
    const QString text = std::exchange(plain.text, QString());
    plain.widget->style()->drawControl(QStyle::CE_ItemViewItem, &plain, painter, plain.widget);
    if (dataTypeFromName(text.section(QLatin1Char(' '), 0, 0).toStdString())) {
      paintBadge(painter, plain, text);
      return;
    }
  }
  QStyledItemDelegate::paint(painter, option, index);
  if (!bar.isValid()) return;
  // The bar is below the text and not behind it, because not all colours of the scale leave text legible.
  const int width = static_cast<int>((option.rect.width() - 8) * bar.toDouble());
  painter->fillRect(QRect(option.rect.left() + 4, option.rect.bottom() - kBarHeight, width, kBarHeight),
                    barColor(index, m_theme()));
}

QSize CellDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const QSize size = QStyledItemDelegate::sizeHint(option, index);
  return {size.width() + (m_typeColumns.contains(index.column()) ? 12 : 0), size.height()};
}

namespace {

/// Gives some columns of a table the width that the other columns leave.
class OpenColumns : public QObject {
 public:
  struct Column {
    int index, least, shares;
  };
  OpenColumns(QTableView& table, QList<Column> columns)
      : QObject(&table), m_table(table), m_columns(std::move(columns)) {
    table.viewport()->installEventFilter(this);
    share();
  }
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::Resize) share();
    return false;
  }

 private:
  void share() {
    const QHeaderView& header = *m_table.horizontalHeader();
    int left = m_table.viewport()->width(), shares = 0;
    for (int column = 0; column < header.count(); ++column) left -= header.sectionSize(column);
    for (const Column& column : m_columns) {
      left += header.sectionSize(column.index) - column.least;
      shares += column.shares;
    }
    for (const Column& column : m_columns)
      m_table.setColumnWidth(column.index, column.least + std::max(0, left * column.shares / shares));
  }
  QTableView& m_table;
  QList<Column> m_columns;
};

}  // namespace

constexpr int kLeastName = 150, kSharesOfName = 3;
constexpr int kCellPadding = 12;  ///< the padding of cells in the style sheet, for both sides together

void styleTable(QTableView& table, const QList<int>& widths, bool sortable) {
  table.setShowGrid(false);
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table.setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  table.setWordWrap(false);
  table.setTextElideMode(Qt::ElideMiddle);
  table.horizontalHeader()->setTextElideMode(Qt::ElideMiddle);
  table.setTabKeyNavigation(false);
  table.verticalHeader()->hide();
  table.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table.verticalHeader()->setDefaultSectionSize(table.fontMetrics().height() + 10);
  table.horizontalHeader()->setHighlightSections(false);
  table.horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  table.setSortingEnabled(sortable);
  QList<OpenColumns::Column> open;
  for (int column = 0; column < widths.size(); ++column) {
    const int width = std::abs(widths[column]) + kCellPadding;
    if (widths[column] > 0) {
      table.setColumnWidth(column, width);
    } else if (widths[column] < 0) {
      open << OpenColumns::Column{column, width, 1};
    } else {
      open << OpenColumns::Column{column, kLeastName, kSharesOfName};
    }
  }
  if (!open.isEmpty()) new OpenColumns(table, open);
}

namespace {

/// The most rows whose heights are adapted to their texts, because measuring more takes long.
constexpr int kMostWrapped = 100;

/// Makes the rows of a table as high as their texts whenever the texts or the columns have changed.
class WrappedRows : public QObject {
 public:
  explicit WrappedRows(QTableView& table) : QObject(&table), m_table(table) {
    m_soon.setSingleShot(true);
    const auto soon = [this] { m_soon.start(); };
    connect(&m_soon, &QTimer::timeout, this, [this] { fit(); });
    connect(table.model(), &QAbstractItemModel::modelReset, this, soon);
    connect(table.horizontalHeader(), &QHeaderView::sectionResized, this, soon);
  }

 private:
  void fit() {
    if (m_table.model()->rowCount() <= kMostWrapped) m_table.resizeRowsToContents();
  }
  QTableView& m_table;
  QTimer m_soon;
};

}  // namespace

void wrapRows(QTableView& table) {
  table.setWordWrap(true);
  new WrappedRows(table);
}

HintStack::HintStack(QWidget* content, const QString& hint, QWidget* parent)
    : QStackedWidget(parent), m_hint(new QLabel(hint)) {
  m_hint->setAlignment(Qt::AlignCenter);
  m_hint->setWordWrap(true);
  m_hint->setMargin(24);
  m_hint->setForegroundRole(QPalette::PlaceholderText);
  m_hint->setTextInteractionFlags(Qt::TextBrowserInteraction);
  addWidget(m_hint);
  addWidget(content);
}

void HintStack::setHint(const QString& hint) {
  m_hint->setText(hint);
}

void HintStack::showContent(bool content) {
  setCurrentIndex(content ? 1 : 0);
}

/// The property in which a disabled widget keeps its own tool tip.
constexpr const char* kOwnTip = "own_tip";

/// `tip` is a text made by tipText().
static void offerWithTip(QWidget& widget, const QString& refusal, const QString& tip) {
  widget.setEnabled(refusal.isEmpty());
  widget.setToolTip(refusal.isEmpty() ? tip : tipText(refusal));
  widget.setProperty(kOwnTip, refusal.isEmpty() ? QVariant() : QVariant(tip));
}

void offer(QWidget& widget, const QString& refusal, const QString& tip) {
  offerWithTip(widget, refusal, tipText(tip));
}

void offer(QWidget& widget, const QString& refusal) {
  const QVariant kept = widget.property(kOwnTip);
  offerWithTip(widget, refusal, kept.isValid() ? kept.toString() : widget.toolTip());
}

QWidget* toolRow(const QList<QWidget*>& widgets, QWidget* parent, int stretch) {
  auto* row = new QWidget(parent);
  auto* layout = new WrapLayout(row, stretch);
  layout->setContentsMargins(8, 6, 8, 6);
  layout->setSpacing(8);
  for (QWidget* widget : widgets) layout->addWidget(widget);
  return row;
}

}  // namespace fusescope
