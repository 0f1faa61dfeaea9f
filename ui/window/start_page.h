#pragma once

#include <QWidget>
#include <vector>

class QVBoxLayout;

namespace fusescope {

/// A network that is shipped with Fusescope.
struct BundledSample {
  QString name, path, description;
};
/// Returns the samples beside the executable, or in the source tree; empty if there are none.
std::vector<BundledSample> bundledSamples();
bool isBundledSample(const QString& path);

/// The page that is shown while no model is open: what Fusescope is, recent files, samples.
class StartPage : public QWidget {
  Q_OBJECT

 public:
  explicit StartPage(QWidget* parent = nullptr);
  /// Updates the recent files.
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
