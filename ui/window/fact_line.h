#pragma once

#include <QPushButton>

#include "ui/document/background_builds.h"
#include "ui/document/prediction_check.h"

namespace fusescope {

/// A line of the status bar that says how many kernels are predicted for another compiler, how many it made, and
/// whether these are known. A click does what is useful next: it shows where the two differ or why there is no build,
/// or starts a build. It is hidden if our own compiler is chosen, and shrinks if the window is narrow. GUI thread only.
class FactLine : public QPushButton {
  Q_OBJECT

 public:
  FactLine(const PlanDocument& document, const RunController& controller, BackgroundBuilds& builds,
           QWidget* parent = nullptr);
  /// Returns the whole text, however much of it is visible.
  const QString& words() const { return m_words; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 signals:
  void differencesWanted();
  void problemWanted(const QString& problem);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  void act();
  void say(const QString& words, const QString& tip, bool canBeClicked);
  int lineHeight() const;
  void elide();
  QString offText() const;

  const PlanDocument& m_document;
  const RunController& m_controller;
  BackgroundBuilds& m_builds;
  std::shared_ptr<const PlanSnapshot> m_counted;  ///< what the two below are of
  std::int64_t m_predicted = 0;
  std::optional<PredictionCheck> m_check;
  QString m_words;
};

}  // namespace fusescope
