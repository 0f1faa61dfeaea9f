#pragma once

#include <QLayout>
#include <memory>
#include <vector>

namespace fusescope {

/// Places widgets side by side, in as many rows as the width requires; the one with index `stretch` takes the rest of
/// its row. A widget whose horizontal policy is Ignored requires little room.
class WrapLayout : public QLayout {
  Q_OBJECT

 public:
  explicit WrapLayout(QWidget* parent, int stretch = -1) : QLayout(parent), m_stretch(stretch) {}

  void addItem(QLayoutItem* item) override { m_items.emplace_back(item); }
  int count() const override { return static_cast<int>(m_items.size()); }
  QLayoutItem* itemAt(int index) const override;
  QLayoutItem* takeAt(int index) override;
  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return place(QRect(0, 0, width, 0), false); }
  QSize sizeHint() const override;     ///< the size of a single row
  QSize minimumSize() const override;  ///< the size of the widest widget
  void setGeometry(const QRect& rect) override;

 private:
  struct Placed {
    QLayoutItem* item;
    int width;
    bool stretches;
  };
  int wantedWidth(QLayoutItem& item) const;
  /// Returns the height that is needed for the width of `rect`, and, if `apply` is set, places the items.
  int place(const QRect& rect, bool apply) const;
  int placeRow(const std::vector<Placed>& row, QPoint at, int width, bool apply) const;

  std::vector<std::unique_ptr<QLayoutItem>> m_items;
  int m_stretch;
};

}  // namespace fusescope
