// The dialog of what is kept of other compilers' answers.
#include <QMessageBox>
#include <QRegularExpression>
#include <QTimer>
#include <QtTest>
#include <filesystem>

#include "base/temporary_folder.h"
#include "cache/disk_store.h"
#include "cache/kept_contents.h"
#include "cache/process_store.h"
#include "session/operations/cache_operation.h"
#include "tests/gui/gui_support.h"
#include "ui/dialogs/cache_dialog.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

namespace fusescope {

namespace {

constexpr int kModalMs = 20;

}  // namespace

class CacheDialogTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    test::catchWarnings();
    const auto store = DiskStore::open(storeFolder().value());
    QVERIFY2(store->isUsable(), store->problem().c_str());
    QVERIFY(store->clear().ok());
    QVERIFY(store->setLimit(DiskStore::kUsualLimit).ok());
    for (const char* about : {"first compiles a.onnx", "second compiles b.onnx"})
      QVERIFY(store->keep({.kind = "answer", .about = about, .madeBy = "test", .madeMs = 1500}, about,
                          std::string(20'000, about[0])));
    QVERIFY(store->find("answer", "first compiles a.onnx"));
    m_window = test::shownWindow();
  }
  void cleanup() {
    m_window.reset();
    QCOMPARE(test::takeWarnings(), QStringList());
  }

  void itListsWhatIsKept() {
    CacheDialog& dialog = open();
    QCOMPARE(dialog.entries().rowCount(), 2);
    QCOMPARE(texts(dialog, 1), (QStringList{"first compiles a.onnx", "second compiles b.onnx"}));
    QVERIFY2(texts(dialog, 5).contains("1") && texts(dialog, 6).contains("1.50 s"),
             qPrintable(texts(dialog, 6).join(' ')));
    QVERIFY2(dialog.summary().contains("2 answers") && dialog.summary().contains("saved 1.50 s"),
             qPrintable(dialog.summary()));
    // What another process removes is gone after F5.
    QVERIFY(DiskStore::open(storeFolder().value())->clear().ok());
    QTest::keyClick(&dialog, Qt::Key_F5);
    QTRY_COMPARE(dialog.entries().rowCount(), 0);
    QTRY_VERIFY(!dialog.working());
    QVERIFY(!dialog.button("verify").isEnabled() && !dialog.button("clear").isEnabled());
  }

  void itTellsWhatTheCommandLists() {
    // A shared place that cannot be used: it is named, with the reason.
    qputenv("FUSESCOPE_SHARED_STORE", "redis://127.0.0.1:1");
    CacheDialog& dialog = open();
    QCOMPARE(texts(dialog, 7), (QStringList{"test", "test"}));
    const auto store = DiskStore::open(storeFolder().value());
    const KeptContents kept = keptContents(*store);
    for (const QString& line : {QStringLiteral("answer: 2 entries, ") + bytesText(kept.bytes) + "; loading one takes " +
                                    qs(inWords(kept.kinds.front().record.load)),
                                qs(kept.times.path.string() + ": " + timesText(kept.times.times))})
      QVERIFY2(dialog.summary().contains(line), qPrintable(dialog.summary()));
    const std::optional<SharedContents> shared = sharedContents();
    QVERIFY(shared && !shared->problem.empty());
    QTRY_VERIFY2(dialog.summary().contains("shared: redis://127.0.0.1:1: " + qs(shared->problem).left(20)),
                 qPrintable(dialog.summary()));
    qunsetenv("FUSESCOPE_SHARED_STORE");
    QVERIFY(!sharedContents());
    QTest::keyClick(&dialog, Qt::Key_F5);
    QTRY_VERIFY2(!dialog.summary().contains("shared:"), qPrintable(dialog.summary()));
  }

  void whatIsDamagedIsFoundAndDeleted() {
    CacheDialog& dialog = open();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(storeFolder().value()))
      if (entry.is_regular_file() && entry.path().filename().string().find("index") == std::string::npos)
        std::filesystem::resize_file(entry.path(), 10);
    QTest::mouseClick(&dialog.button("verify"), Qt::LeftButton);
    QTRY_VERIFY2(dialog.said().startsWith("2 of 2 were damaged and are deleted"), qPrintable(dialog.said()));
    QCOMPARE(dialog.entries().rowCount(), 0);
  }

  void theLimitIsKeptAndWhatIsOverItGoes() {
    CacheDialog& dialog = open();
    QCOMPARE(dialog.limit().value(), 4.0);
    dialog.limit().setValue(0.5);
    QTest::mouseClick(&dialog.button("collect"), Qt::LeftButton);
    QTRY_COMPARE(dialog.said(), QStringLiteral("0 entries and 0 measured times of kernels were removed."));
    QCOMPARE(DiskStore::open(storeFolder().value())->limit(), std::int64_t{1} << 29);
    QCOMPARE(dialog.entries().rowCount(), 2);
  }

  void theLimitHasTheRangeOfTheOperation() {
    const Option& option = usualOption<CacheGcSettings>("limit");
    QDoubleSpinBox& field = open().limit();
    QCOMPARE(static_cast<double>(std::int64_t{1} << 30) * field.minimum(), option.range.least);
    for (const double value : {field.minimum(), field.maximum()}) {
      field.setValue(value);
      QVERIFY(whyNotAccepted(option, std::to_string(bytesIn(field).value())).empty());
    }
    // A range that ends is the range of the field.
    Option ending = option;
    ending.range = {.least = 2.0 * (1 << 30), .most = 8.0 * (1 << 30)};
    describeBytes(field, ending, 2);
    QCOMPARE(field.minimum(), 2.0);
    QCOMPARE(field.maximum(), 8.0);
  }

  void whatIsExportedCanBeImported() {
    CacheDialog& dialog = open();
    const auto folder = TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope-cache-dialog").value();
    const std::string file = (folder / "kept.fscache").string();
    dialog.exportTo(file);
    QTRY_VERIFY2(dialog.said().startsWith("2 answers written"), qPrintable(dialog.said()));
    QVERIFY(DiskStore::open(storeFolder().value())->clear().ok());
    dialog.importFrom(file);
    QTRY_VERIFY2(dialog.said().startsWith("2 answers added"), qPrintable(dialog.said()));
    QCOMPARE(dialog.entries().rowCount(), 2);
    QVERIFY(!dialog.button("why").isEnabled());  // no network is open
  }

  void whyAlsoSaysWhichTimesOfOurOwnKernelsAreKept() {
    QVERIFY(test::openSample(*m_window, "digits"));
    CacheDialog& dialog = open();
    QVERIFY(dialog.button("why").isEnabled());
    QTest::mouseClick(&dialog.button("why"), Qt::LeftButton);
    QTRY_VERIFY2(
        dialog.said().contains(QRegularExpression("^The times of \\d+ of [1-9]\\d* distinct regions are kept")),
        qPrintable(dialog.said()));
  }

  void everythingGoesOnlyWhereThatIsConfirmed() {
    CacheDialog& dialog = open();
    answer(QMessageBox::Cancel);
    QTest::mouseClick(&dialog.button("clear"), Qt::LeftButton);
    QCOMPARE(dialog.entries().rowCount(), 2);
    answer(QMessageBox::Yes);
    QTest::mouseClick(&dialog.button("clear"), Qt::LeftButton);
    QTRY_COMPARE(dialog.said(), QStringLiteral("2 were removed."));
    QCOMPARE(dialog.entries().rowCount(), 0);
    QVERIFY(DiskStore::open(storeFolder().value())->entries().empty());
  }

 private:
  CacheDialog& open() {
    m_window->actions().find("cache")->trigger();
    auto* dialog = m_window->findChild<CacheDialog*>();
    if (dialog == nullptr) qFatal("the dialog does not open");
    [&] { QTRY_VERIFY(dialog->entries().rowCount() == 2 && !dialog->working()); }();
    return *dialog;
  }
  /// Sorted.
  static QStringList texts(const CacheDialog& dialog, int column) {
    QStringList texts;
    for (int row = 0; row < dialog.entries().rowCount(); ++row)
      texts << dialog.entries().index(row, column).data().toString();
    texts.sort();
    return texts;
  }
  void answer(QMessageBox::StandardButton button) {
    QTimer::singleShot(kModalMs, this, [this, button] {
      auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
      box == nullptr ? answer(button) : box->button(button)->click();
    });
  }

  std::unique_ptr<MainWindow> m_window;
};

}  // namespace fusescope

FUSESCOPE_GUI_TEST(fusescope::CacheDialogTest, 8)
#include "cache_dialog_test.moc"
