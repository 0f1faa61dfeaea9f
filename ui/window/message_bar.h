#pragma once

#include <QLabel>
#include <QList>
#include <QPair>
#include <QPushButton>
#include <QVBoxLayout>
#include <QWidget>
#include <functional>

namespace fusescope {

/// Messages above the canvas that ask for something and stay: each has its actions, and a button that closes it.
class MessageBar : public QWidget {
  Q_OBJECT

 public:
  using Action = QPair<QString, std::function<void()>>;

  explicit MessageBar(QWidget* parent = nullptr);
  /// Shows a message. It replaces a message with the same `key`. Choosing an action closes it.
  void show(const QString& key, const QString& text, const QList<Action>& actions);
  void close(const QString& key);
  QString textOf(const QString& key) const;  ///< empty: there is no such message
  QPushButton* button(const QString& key, const QString& action) const;

 private:
  QWidget* find(const QString& key) const;
  QVBoxLayout* m_rows;
};

}  // namespace fusescope
