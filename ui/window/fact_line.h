#pragma once

#include <QPushButton>

#include "ui/document/background_builds.h"
#include "ui/document/prediction_check.h"

namespace fusescope {

/// A line of the status bar that says what is predicted and what is known. For another compiler it is how many kernels
/// are predicted and how many it made; for our own, while background builds are switched on, the time that is predicted
/// and the time that was measured, and when. A click does what is useful next: it shows where the two differ, the times
/// of the layers, or why there is no build, or starts a build. If the window is narrow, it shows a shorter text. GUI
/// thread only.
class FactLine : public QPushButton {
  Q_OBJECT

 public:
  FactLine(const PlanDocument& document, const RunController& controller, BackgroundBuilds& builds,
           QWidget* parent = nullptr);
  /// Returns the whole text, however much of it is visible.
  const QString& words() const { return m_texts.front(); }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 signals:
  void differencesWanted();
  void timesWanted();
  void problemWanted(const QString& problem);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  void count();
  void refreshOwn();
  QString ownTip(const BackgroundBuilds::OwnBuild& built) const;
  void act();
  /// Shows the first of `texts` that fits; the first is the whole text, and the others are shorter ones.
  void say(const QStringList& texts, const QString& tip, bool canBeClicked);
  int lineHeight() const;
  void elide();
  QString offText() const;

  const PlanDocument& m_document;
  const RunController& m_controller;
  BackgroundBuilds& m_builds;
  std::shared_ptr<const PlanSnapshot> m_counted;  ///< the snapshot for which the next two members were computed
  std::int64_t m_predicted = 0;
  std::optional<PredictionCheck> m_check;
  QString m_predictedTime;         ///< the predicted time of our own plan: "≈ 1.2 ms"
  QStringList m_texts{QString()};  ///< the whole text, followed by shorter ones
};

}  // namespace fusescope
