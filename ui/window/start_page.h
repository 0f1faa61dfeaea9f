#pragma once

#include <QWidget>
#include <vector>

class QVBoxLayout;

namespace fusescope {

/// A network that comes with Fusescope.
struct BundledSample {
  QString name, path, description;
};
/// The samples beside the executable, else of the source tree; empty if there are none.
std::vector<BundledSample> bundledSamples();
bool isBundledSample(const QString& path);

/// What is shown while no model is open: what this is, recent files, samples.
class StartPage : public QWidget {
  Q_OBJECT

 public:
  explicit StartPage(QWidget* parent = nullptr);
  /// Recent files may have changed.
  void refresh();

 protected:
  void showEvent(QShowEvent* event) override;

 signals:
  void openRequested(const QString& path);
  void browseRequested();

 private:
  QVBoxLayout* m_recent;
  QWidget* m_recentBox;
};

}  // namespace fusescope
