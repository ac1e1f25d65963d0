"""Function words, by which prose is told from menus; a list of our own, as the paper's is not
printed.

English as in the paper, and the most frequent ones of other languages: the job reads pages of all.
"""

_WORDS = """
a about after all also am an and any are as at be because been before being between both but by can
could did do does during each few for from had has have he her here him his how i if in into is it its
just me more most my no nor not of off on once only or other our out over own same she should so some
such than that the their them then there these they this those through to too under until up very was
we were what when where which while who whom why will with would you your

auch auf aus bei das dem den der des die durch ein eine einem einen einer es für hat ich im ist mit
nach nicht noch oder sein sich sie sind über um und von vor war wie wird zu zum zur

au aux avec ce ces cette dans de du elle en est et il ils la le les leur mais ne nous ou par pas plus
pour qu que qui sa se ses son sont sur un une vous

al como con cuando del desde el entre esta este fue ha hay las lo los más muy para pero por sin sobre
su sus también una uno y ya

che da dalla degli dei del della delle di gli ha nel nella non per più sono una

ao aos com das do dos ele foi mais mas na nas no não nos o os ou pela pelo são seu sua um uma

aan bij dat deze die dit een er het hij ik maar met naar niet nog ook op te tot uit van voor zijn

att av den det där efter ett för han har inte jag med men och om på sig som till var vi

af at blev den det er et for fra hun ikke jeg med og så til ved

ale być co czy dla do go ich jak jest już na nie od po przez się są tak tego to tym w z za że

a ale aby co do je jeho jsem jsou k na o od po pro s se si tak to v ve z za že

и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было от
из для это

ve bir bu da de ile için çok daha olarak gibi ne mi en

yang dan di ke dari untuk dengan ini itu pada adalah tidak dalam akan

και το να του η της με που την από για τα είναι στο θα

的 了 在 是 我 有 和 就 不 人 都 一 也 很 到 说 要 去 你 会 着 这 那 他 她 與 為 這 個 們

の に は を た が で て と し れ さ も な

은 는 이 가 을 를 의 에 도 로
"""

STOP_WORDS = frozenset(_WORDS.split())
