#include "ui/widgets/wrap_layout.h"

#include <QWidget>
#include <algorithm>

namespace fusescope {

namespace {

constexpr int kLeastIgnored = 120;  ///< the least width of a text that may be shortened

}  // namespace

QLayoutItem* WrapLayout::itemAt(int index) const {
  return index >= 0 && index < count() ? m_items[static_cast<std::size_t>(index)].get() : nullptr;
}

QLayoutItem* WrapLayout::takeAt(int index) {
  if (itemAt(index) == nullptr) return nullptr;
  QLayoutItem* taken = m_items[static_cast<std::size_t>(index)].release();
  m_items.erase(m_items.begin() + index);
  return taken;
}

int WrapLayout::wantedWidth(QLayoutItem& item) const {
  const QWidget* widget = item.widget();
  const bool ignored = widget != nullptr && widget->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored;
  if (ignored || item.hasHeightForWidth()) return std::max(item.minimumSize().width(), kLeastIgnored);
  return item.sizeHint().width();
}

QSize WrapLayout::sizeHint() const {
  QSize size;
  for (const auto& item : m_items) {
    if (item->isEmpty()) continue;
    size.rwidth() += wantedWidth(*item) + (size.width() > 0 ? spacing() : 0);
    size.setHeight(std::max(size.height(), item->sizeHint().height()));
  }
  const QMargins around = contentsMargins();
  return size + QSize(around.left() + around.right(), around.top() + around.bottom());
}

QSize WrapLayout::minimumSize() const {
  QSize size;
  for (const auto& item : m_items) size = size.expandedTo(item->minimumSize());
  const QMargins around = contentsMargins();
  return size + QSize(around.left() + around.right(), around.top() + around.bottom());
}

void WrapLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  place(rect, true);
}

int WrapLayout::place(const QRect& rect, bool apply) const {
  const QRect inner = rect.marginsRemoved(contentsMargins());
  int top = inner.top(), used = 0;
  std::vector<Placed> row;
  const auto endRow = [&] {
    if (row.empty()) return;
    top += placeRow(row, QPoint(inner.left(), top), inner.width(), apply) + spacing();
    row.clear();
    used = 0;
  };
  for (std::size_t i = 0; i < m_items.size(); ++i) {
    QLayoutItem& item = *m_items[i];
    if (item.isEmpty()) continue;
    const int width = std::min(wantedWidth(item), std::max(inner.width(), 1));
    if (!row.empty() && used + spacing() + width > inner.width()) endRow();
    used += width + (row.empty() ? 0 : spacing());
    row.push_back({&item, width, static_cast<int>(i) == m_stretch});
  }
  endRow();
  const int bottom = top - (m_items.empty() ? 0 : spacing()) + contentsMargins().bottom();
  return bottom - rect.top();
}

int WrapLayout::placeRow(const std::vector<Placed>& row, QPoint at, int width, bool apply) const {
  int free = width - spacing() * (static_cast<int>(row.size()) - 1);
  for (const Placed& placed : row) free -= placed.width;
  const auto widthOf = [&](const Placed& placed) { return placed.width + (placed.stretches ? std::max(free, 0) : 0); };
  const auto heightOf = [&](const Placed& placed) {
    return placed.item->hasHeightForWidth() ? placed.item->heightForWidth(widthOf(placed))
                                            : placed.item->sizeHint().height();
  };
  int height = 0;
  for (const Placed& placed : row) height = std::max(height, heightOf(placed));
  if (!apply) return height;
  for (const Placed& placed : row) {
    const int own = std::min(heightOf(placed), height);
    placed.item->setGeometry(QRect(at.x(), at.y() + (height - own) / 2, widthOf(placed), own));
    at.rx() += widthOf(placed) + spacing();
  }
  return height;
}

}  // namespace fusescope
