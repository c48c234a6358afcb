"""All checks of one run."""
class Checks:
    def __init__(self,*a): self.calm=False; self.clock_slack=0
    def hear(self,c): pass
    def planned(self,*a): pass
    def wrote(self,*a): pass
    def crashed(self,*a): pass
    def at_rest(self,op): pass
    def happened(self,e): pass
