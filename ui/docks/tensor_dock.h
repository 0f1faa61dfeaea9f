#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTextBrowser>
#include <array>
#include <memory>
#include <vector>

#include "session/runs/value_of_both.h"
#include "ui/docks/dock.h"
#include "ui/docks/slice_chooser.h"
#include "ui/docks/slice_view.h"
#include "ui/docks/tensor_choice.h"
#include "ui/docks/tensor_facts.h"
#include "ui/widgets/common_widgets.h"
#include "ui/widgets/histogram_plot.h"

class QBoxLayout;

namespace fusescope {

/// Shows the tensors of the selection: statistics, a histogram and a slice as an image. Weights come from the model;
/// results of nodes are fetched from a run of the network in float32 and of the plan on one sample, and shown side by
/// side with their difference.
class TensorDock : public Dock {
  Q_OBJECT

 public:
  explicit TensorDock(const DockContext& context);
  QComboBox& tensors() { return fresh(*m_tensors); }
  QPushButton& fetchButton() { return fresh(*m_fetch); }
  QSpinBox& sample() { return fresh(*m_sample); }
  QComboBox& mark() { return fresh(*m_mark); }
  QPushButton& largestButton() { return fresh(*m_largest); }
  SliceChooser& chooser() { return fresh(*m_chooser); }
  SliceView& view(int index) { return *m_views[static_cast<std::size_t>(index)]; }
  const HistogramPlot& histogram() const { return *m_histogram; }
  QString statistics() const { return m_statistics->toPlainText(); }
  QString element() const { return m_element->text(); }  ///< the text about the element under the mouse
  QString hint();                                        ///< the text in place of a tensor; empty: a tensor is shown

 protected:
  void renew(Parts parts) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  static constexpr Parts kChoices = 1, kTools = 2;
  QWidget* makeTools();
  QWidget* makePage();
  void renewChoices();
  void renewTools();
  const TensorChoice* choice() const;  ///< null if there is none
  /// Returns the tensors of the chosen value that can be shown immediately; none if they must be computed first.
  std::vector<std::pair<QString, Tensor>> tensorsNow() const;
  void take(const std::shared_ptr<const ValueOfBoth>& value);
  void show();
  void showFacts();
  void showHistogram();
  void renewSlices();
  void showSlices();
  void pointAt(const SliceView& view, QPoint cell);
  void goToLargest();
  /// Returns which sample the values belong to, and which values are missing.
  QString whereFrom() const;
  DataType marked() const;

  QComboBox *m_tensors, *m_mark;
  QPushButton *m_fetch, *m_largest;
  QSpinBox* m_sample;
  QLabel *m_status, *m_element;
  SliceChooser* m_chooser;
  QTextBrowser* m_statistics;
  HistogramPlot* m_histogram;
  std::array<SliceView*, 3> m_views;
  QBoxLayout* m_row = nullptr;
  HintStack* m_stack;
  std::vector<TensorChoice> m_choices;
  std::shared_ptr<const TensorFacts> m_facts;
  std::shared_ptr<const TensorSlices> m_slices;
  // The values that the last run returned, with their plan and sample.
  std::shared_ptr<const ValueOfBoth> m_fetched;
  std::shared_ptr<const Plan> m_fetchedOf;
  bool m_asked = false;     ///< whether a run is working for this dock
  QPoint m_wanted{-1, -1};  ///< the cell that is marked as soon as the slices exist
};

}  // namespace fusescope
