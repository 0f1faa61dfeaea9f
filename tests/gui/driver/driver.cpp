#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QGenericPlugin>
#include <QLabel>
#include <QLineEdit>
#include <QSocketNotifier>
#include <QTabBar>
#include <QTimer>
#include <QtTest>
#include <cstdio>
#include <deque>
#include <functional>
#include <optional>

namespace {

constexpr int kTryMs = 10;

template <class T>
T* visible(const std::function<bool(T&)>& is) {
  for (QWidget* widget : QApplication::allWidgets())
    if (auto* found = qobject_cast<T*>(widget); found != nullptr && found->isVisible() && is(*found)) return found;
  return nullptr;
}

using Act = std::function<void()>;

QString wordsOf(QString text) {
  return text.remove(QLatin1Char('&'));
}

QLabel* labelWith(const QString& text) {
  return visible<QLabel>([&](const QLabel& one) { return one.text().contains(text); });
}

/// Whether that is the text of the label beside it.
bool isLabelled(const QWidget& field, const QString& text) {
  return visible<QLabel>([&](const QLabel& one) { return one.buddy() == &field && wordsOf(one.text()) == text; }) !=
         nullptr;
}

int tabIn(const QTabBar& bar, const QString& name) {
  for (int i = 0; i < bar.count(); ++i)
    if (wordsOf(bar.tabText(i)) == name) return i;
  return -1;
}

/// A click on the tab, if a mouse there would reach it.
std::optional<Act> tabOf(const QString& name) {
  auto* bar = visible<QTabBar>([&](const QTabBar& one) { return tabIn(one, name) >= 0; });
  if (bar == nullptr) return {};
  const QPoint place = bar->tabRect(tabIn(*bar, name)).center();
  if (QApplication::widgetAt(bar->mapToGlobal(place)) != bar) return {};
  return [bar, place] { QTest::mouseClick(bar, Qt::LeftButton, {}, place); };
}

/// What a line asks for, if it can be done now: "act NAME" of an action, "click TEXT" of a button, "type TEXT" into the
/// dialog that is open, "file PATH" in the file dialog that is open, "home NAME" and "down NAME" in a combo box, "tab
/// NAME" where nothing lies over it, "see TEXT" of a button or in a label.
std::optional<Act> actOf(const QString& verb, const QString& what) {
  if (verb == QLatin1String("act")) {
    for (QWidget* window : QApplication::topLevelWidgets()) {
      auto* action = window->findChild<QAction*>(what);
      if (action != nullptr && action->isEnabled()) return [action] { action->trigger(); };
    }
  } else if (verb == QLatin1String("click") || verb == QLatin1String("see")) {
    auto* button = visible<QAbstractButton>(
        [&](const QAbstractButton& one) { return one.isEnabled() && wordsOf(one.text()) == what; });
    if (button == nullptr && verb == QLatin1String("see") && labelWith(what) != nullptr) return Act([] {});
    if (button == nullptr) return {};
    return verb == QLatin1String("see") ? Act([] {}) : Act([button] { QTest::mouseClick(button, Qt::LeftButton); });
  } else if (verb == QLatin1String("tab")) {
    return tabOf(what);
  } else if (verb == QLatin1String("type")) {
    auto* field = visible<QLineEdit>([](const QLineEdit& one) { return qobject_cast<QDialog*>(one.window()); });
    if (field != nullptr) return [field, what] { QTest::keyClicks(field, what); };
  } else if (verb == QLatin1String("file")) {
    auto* dialog = visible<QFileDialog>([](const QFileDialog&) { return true; });
    if (dialog == nullptr) return {};
    return [dialog, what] {
      dialog->findChild<QLineEdit*>()->setText(what);
      auto* buttons = dialog->findChild<QDialogButtonBox*>();
      QTest::mouseClick(buttons->buttons().first(), Qt::LeftButton);
    };
  } else if (verb == QLatin1String("down") || verb == QLatin1String("home")) {
    const Qt::Key key = verb == QLatin1String("down") ? Qt::Key_Down : Qt::Key_Home;
    auto* box =
        visible<QComboBox>([&](const QComboBox& one) { return one.accessibleName() == what || isLabelled(one, what); });
    if (box != nullptr && box->isEnabled()) return [box, key] { QTest::keyClick(box, key); };
  }
  return {};
}

/// Does in a real program what a person does with mouse and keys: told line by line on standard input, each as soon as
/// it can be done, and said on standard output when it begins. It knows Qt's widgets alone.
class Driver : public QObject {
 public:
  Driver() : m_input(fileno(stdin), QSocketNotifier::Read) {
    connect(&m_input, &QSocketNotifier::activated, this, &Driver::read);
    connect(&m_timer, &QTimer::timeout, this, &Driver::tryNext);
    m_timer.setInterval(kTryMs);
  }

 private:
  void read() {
    char bytes[4096];
    const ssize_t count = ::read(fileno(stdin), bytes, sizeof bytes);
    if (count <= 0) return m_input.setEnabled(false);
    m_text += QByteArray(bytes, static_cast<int>(count));
    for (int end = m_text.indexOf('\n'); end >= 0; end = m_text.indexOf('\n')) {
      m_lines.push_back(QString::fromUtf8(m_text.left(end)));
      m_text.remove(0, end + 1);
    }
    m_timer.start();
  }

  void tryNext() {
    if (m_lines.empty()) return m_timer.stop();
    const QString line = m_lines.front();
    const auto act = actOf(line.section(QLatin1Char(' '), 0, 0), line.section(QLatin1Char(' '), 1));
    if (!act) return;
    m_lines.pop_front();
    std::printf("did %s\n", qPrintable(line));
    std::fflush(stdout);
    QTimer::singleShot(0, *act);  // it may open a dialog, in whose event loop the next line is done
  }

  QSocketNotifier m_input;
  QTimer m_timer;
  QByteArray m_text;
  std::deque<QString> m_lines;
};

}  // namespace

class DriverPlugin : public QGenericPlugin {
  Q_OBJECT
  Q_PLUGIN_METADATA(IID QGenericPluginFactoryInterface_iid FILE "driver.json")

 public:
  QObject* create(const QString&, const QString&) override { return new Driver; }
};

#include "driver.moc"
